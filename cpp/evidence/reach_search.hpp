// The least evidence of arms that have to reach a gap together, in one form each or in several: branch and bound.
//
//   minimise  log E(x)   subject to  sum_i reach_i x_i >= gap,  x >= 0
//
// E = sum_p weight_p exp(s_p), each s_p a sum of one rise per form, which is concave and increasing in t = x^2 (section 6 of
// math.md). E rises with every x, so the least is where the constraint holds with equality. On a box of the x, for any
// distribution q on the parts,
//   log E(x) >= log E(y) + sum_i (g_i(x_i) - g_i(y_i)),   g_i = sum_p q_p rise_ip ,
// where q are the shares of the parts at y (7.4): any y will do. Each g_i lies above its chord in t, and with chords it is a
// quadratic problem with one constraint, which is solved exactly. Boxes are cut where the bound is lowest. Each box may have a
// constraint of its own, as long as that holds for all that the box stands for.
//
// An `Average` has n_scales(), rises(i, x, out), the rises of the i-th form at x for each c, from below,
// log_evidence(rise, share), log E from those of all forms, one row each, and the shares, and log_evidence_of(i, x), log E where
// one form alone is at x.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "math/constants.hpp"

namespace linkarms {

/// Nearly the first x up to `most` at which `is_enough`; infinite if there is none.
template <class IsEnough>
[[nodiscard]] double first_above(double most, IsEnough is_enough) {
  constexpr double near_enough = 0.01;
  if (!is_enough(most)) return inf;
  double low = 0.0, high = most;
  while (high - low > near_enough * high) {
    const double middle = 0.5 * (low + high);
    (is_enough(middle) ? high : low) = middle;
  }
  return high;
}

/// What at most n forms have to reach, and a box of their x. `Extra` belongs to the constraint.
template <class Extra, std::size_t n>
struct ReachBox {
  using Forms = std::array<double, n>;
  Extra extra{};
  Forms reach{};
  double gap = 0.0;
  Forms low{}, high;
  Forms top{};           ///< no more is needed for the gap: the least is where x <= top
  Forms at{};            ///< a place near which its bound is
  double bound = -inf;   ///< log E is at least that
  double value = inf;    ///< log E at `at`
  double rise = 0.0;     ///< of that, what is not there at x = 0
  bool pending = false;  ///< whether it was not bounded yet
  std::size_t form = 0;  ///< where to cut it

  ReachBox() { high.fill(inf); }
};

/// Minimise sum_m slope_m x_m^2 subject to sum_m reach_m x_m = gap and low <= x <= top. Forms outside their ends are fixed there:
/// those below if the others then have to go less far, else those above.
template <class Extra, std::size_t n>
void minimise(const ReachBox<Extra, n>& box, std::size_t count, const std::array<double, n>& slope, std::array<double, n>& x) {
  const std::array<double, n>& reach = box.reach;
  const double floor = 1e-12 * *std::max_element(slope.begin(), slope.begin() + static_cast<std::ptrdiff_t>(count)) + 1e-300;
  std::array<bool, n> fixed{};
  double left = box.gap;
  for (std::size_t turn = 0; turn < count; ++turn) {
    double total = 0.0, under = 0.0, over = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!fixed[i]) total += reach[i] * reach[i] / std::max(slope[i], floor);
    }
    const double factor = total > 0.0 ? std::max(left, 0.0) / total : 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      if (fixed[i]) continue;
      x[i] = factor * reach[i] / std::max(slope[i], floor);
      under += reach[i] * std::max(box.low[i] - x[i], 0.0);
      over += reach[i] * std::max(x[i] - box.top[i], 0.0);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (fixed[i]) continue;
      if (under >= over && x[i] <= box.low[i]) {
        x[i] = box.low[i];
      } else if (over >= under && x[i] >= box.top[i]) {
        x[i] = box.top[i];
      } else {
        continue;
      }
      fixed[i] = true;
      left -= reach[i] * x[i];
    }
    if (under == over) break;
  }
}

template <class Average, class Extra, std::size_t most_forms>
class ReachSearch {
 public:
  using Box = ReachBox<Extra, most_forms>;
  using Forms = Box::Forms;
  /// How near the bound comes to the infimum, as a share of one and that.
  static constexpr double precision = 1e-3;

  ReachSearch(std::size_t n_forms, Average average) : count_(n_forms), average_(std::move(average)) {
    for (auto* rises : {&low_, &high_, &here_, &share_}) rises->resize(n_forms * average_.n_scales());
    cap_.fill(inf);
  }

  /// How many boxes were bounded.
  [[nodiscard]] long long boxes() const { return boxes_; }

  /// The infimum from below over all `boxes`, within `precision` where `most` boxes are enough. Ends early at a bound of at
  /// least `enough`, or where less than `too_little` was found: then what is returned is sure to be at least, or below, that.
  /// `look(box)` is log E where it is known to be in the problem, near the box's lowest place, or infinite; `divide(box, least)`
  /// are the same box with narrower constraints in place of one, or none; for `change` see `bound`.
  template <class Look, class Divide, class Change>
  [[nodiscard]] double infimum(std::vector<Box> boxes, double enough, double too_little, long long most, Look look, Divide divide,
                               Change change) {
    const auto later = [&](std::size_t i, std::size_t j) {
      return boxes[i].bound != boxes[j].bound ? boxes[i].bound > boxes[j].bound : i > j;
    };
    constexpr std::size_t usual = 256;
    boxes.reserve(usual);
    std::vector<std::size_t> open;
    double least = inf, least_then = inf, target = -inf;
    const auto note = [&](std::size_t i) {
      if (boxes[i].value < least - 0.25 * precision) least = std::min(least, look(boxes[i]));
      open.push_back(i);
      std::ranges::push_heap(open, later);
    };
    const auto add = [&](Box part) {
      bound(part, inf, change);
      if (part.bound == inf) return;
      boxes.push_back(part);
      note(boxes.size() - 1);
    };
    Forms farthest{};
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      note(i);
      for (std::size_t m = 0; m < count_; ++m) farthest[m] = std::max(farthest[m], boxes[i].top[m]);
    }
    while (!open.empty()) {
      std::ranges::pop_heap(open, later);
      const Box box = boxes[open.back()];
      open.pop_back();
      const bool near = least < inf && least - box.bound <= precision * (1.0 + std::abs(least));
      const bool done = near || box.bound >= enough || least < too_little;
      if (done || boxes_ >= most) return std::min(box.bound, least);
      if (box.pending) {
        Box part = box;
        part.pending = false;
        add(part);
        continue;
      }
      if (std::vector<Box> narrower = divide(box, least); !narrower.empty()) {
        for (Box& own : narrower) {
          own.bound = std::max(own.bound, box.bound);
          boxes.push_back(own);
          note(boxes.size() - 1);
        }
        continue;
      }
      if (box.bound >= target || least < least_then - 0.1) {
        least_then = least;
        target = least - std::min(0.05 * (1.0 + std::abs(least)), 0.1 * (least - box.bound));
        for (std::size_t i = 0; i < count_ && least < inf; ++i) {
          cap_[i] = first_above(farthest[i], [&](double x) { return average_.log_evidence_of(i, x) >= target; });
        }
      }
      Box part = box;
      bool cut_off = false;
      for (std::size_t i = 0; i < count_; ++i) {
        if (!(cap_[i] < 0.8 * part.top[i] && cap_[i] > part.low[i])) continue;
        Box beyond = part;
        beyond.low[i] = part.high[i] = cap_[i];
        beyond.bound = std::max(box.bound, target);
        beyond.value = inf;
        beyond.pending = true;
        boxes.push_back(beyond);
        note(boxes.size() - 1);
        cut_off = true;
      }
      if (cut_off) {
        add(part);
        continue;
      }
      const std::size_t i = box.form;
      const double width = box.top[i] - box.low[i], margin = 0.1 * width;
      const bool inside = box.at[i] > box.low[i] + margin && box.at[i] < box.top[i] - margin;
      const double cut = inside ? box.at[i] : box.low[i] + 0.5 * width;
      part.high[i] = cut;
      add(part);
      part.high[i] = box.high[i];
      part.low[i] = cut;
      add(part);
    }
    return least;
  }

  /// Bound log E in a box, from `box.at`, which is moved; infinite if the constraint cannot hold there. A bound of at least
  /// `enough` is not made better. `change(box, x)` may change the constraint to another that holds as well, for which less is
  /// lost at x, and then returns true.
  template <class Change>
  void bound(Box& box, double enough, Change change) {
    ++boxes_;
    const std::size_t n = average_.n_scales();
    const auto row = [n](std::vector<double>& all, std::size_t i) { return std::span(all).subspan(i * n, n); };
    Forms slope{}, x{};
    bool changed = true;
    for (int turn = 1;; ++turn) {
      if (changed && !shrink(box)) {
        box.bound = inf;
        return;
      }
      if (changed) to_gap(box);
      for (std::size_t i = 0; i < count_; ++i) {
        if (changed) {
          average_.rises(i, box.low[i], row(low_, i));
          average_.rises(i, box.top[i], row(high_, i));
        }
        average_.rises(i, box.at[i], row(here_, i));
      }
      box.value = average_.log_evidence(here_, share_);
      box.rise = 0.0;
      double most = 0.0, least = box.value;
      for (std::size_t i = 0; i < count_; ++i) {
        double low = 0.0, high = 0.0, here = 0.0;
        for (std::size_t j = i * n; j < (i + 1) * n; ++j) {
          low += share_[j] * low_[j];
          high += share_[j] * high_[j];
          here += share_[j] * here_[j];
        }
        const double width = (box.top[i] - box.low[i]) * (box.top[i] + box.low[i]);
        slope[i] = width > 0.0 ? (high - low) / width : 0.0;
        // cut where the rise is farthest above its chord; else where it rises most
        const double above = here - low - slope[i] * (box.at[i] - box.low[i]) * (box.at[i] + box.low[i]) + 1e-3 * (high - low);
        if (above > most) {
          most = above;
          box.form = i;
        }
        box.rise += here;
        least += low - here;
      }
      minimise(box, count_, slope, x);
      for (std::size_t i = 0; i < count_; ++i) least += slope[i] * (x[i] - box.low[i]) * (x[i] + box.low[i]);
      box.bound = std::max(box.bound, least - rounding * (1.0 + std::abs(least)));
      if (turn == most_turns || box.bound >= enough) return;
      changed = change(box, x);
      if (!changed && box.value - box.bound < 0.1 * precision) return;
      for (std::size_t i = 0; i < count_; ++i) box.at[i] += step() * (x[i] - box.at[i]);
    }
  }

 private:
  /// What rounding can do to a bound.
  static constexpr double rounding = 1e-9;

  /// How often a bound is taken, and how far its place is moved in between, as a share of the way to where the bound is: with
  /// one part its shares are those everywhere.
  static constexpr int most_turns = 2;
  [[nodiscard]] double step() const { return average_.n_scales() > 1 ? 0.5 : 1.0; }

  /// Bring the ends of a box to where the constraint can hold; false if it cannot. More than the gap is never the least.
  [[nodiscard]] bool shrink(Box& box) const {
    double least = 0.0, most = 0.0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (!(box.reach[i] > 0.0)) continue;
      least += box.reach[i] * box.low[i];
      most += box.reach[i] * box.high[i];
    }
    if (most < box.gap * (1.0 - rounding)) return false;
    const Forms low = box.low;
    for (std::size_t i = 0; i < count_; ++i) {
      box.top[i] = low[i];
      if (!(box.reach[i] > 0.0)) continue;
      box.top[i] = std::clamp((box.gap - least) / box.reach[i] + low[i], low[i], box.high[i]);
      if (most < inf) box.low[i] = std::clamp((box.gap - most) / box.reach[i] + box.high[i], low[i], box.top[i]);
    }
    return true;
  }

  /// Bring `at` to where the constraint holds with equality, in about the same proportions.
  void to_gap(Box& box) const {
    Forms slope{};
    for (std::size_t i = 0; i < count_; ++i) slope[i] = box.reach[i] / std::max(box.at[i], 1e-6 * box.top[i] + 1e-300);
    minimise(box, count_, slope, box.at);
  }

  std::size_t count_;
  Average average_;
  Forms cap_{};                                    ///< where one form alone has as much as was found
  std::vector<double> low_, high_, here_, share_;  ///< rises at the ends of a box and inside, and shares: one row per form
  long long boxes_ = 0;
};

}  // namespace linkarms
