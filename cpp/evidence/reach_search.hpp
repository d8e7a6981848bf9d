// The least evidence of arms that have to reach a gap together, in one form each or in several: branch and bound.
//
//   minimise  log E(x)   subject to  sum_i reach_i x_i >= gap,  x >= 0
//
// E = sum_p weight_p exp(s_p), each s_p a sum of one rise per form, which is concave and increasing in t = x^2 (section 6 of
// math.md). E rises with every x, so the least is where the constraint holds with equality. On a box of the x, for any
// distribution q on the parts,
//   log E(x) >= log E(y) + sum_i (g_i(x_i) - g_i(y_i)),   g_i = sum_p q_p rise_ip ,
// where q are the shares of the parts at y (7.4): any y will do. Each g_i lies above its chords in t between places of the box.
// With those the sum under the constraint is bounded by its dual, m gap + sum_i min (g_i(x_i) - m reach_i x_i) for the best
// m >= 0: that loses at most what one form loses that is not convex in x. Boxes are cut where the bound is lowest. Each box may
// have a constraint of its own, as long as that holds for all that the box stands for.
//
// An `Average` has n_scales(), rises(i, x, out), the rises of the i-th form at x for each c, from below, rise(i, x, share), their
// sum where each has a share, log_evidence(rise, share), log E from those of all forms, one row each, and the shares, and
// log_evidence_of(i, x), log E where one form alone is at x.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "evidence/reach_box.hpp"
#include "evidence/reach_dual.hpp"
#include "math/constants.hpp"

namespace linkarms {

/// Nearly the first x up to `most` at which `is_enough`; infinite if there is none.
template <class IsEnough>
[[nodiscard]] double first_above(double most, IsEnough is_enough) {
  constexpr double near_enough = 0.02;
  if (!is_enough(most)) return inf;
  double low = 0.0, high = most;
  while (high - low > near_enough * high) {
    const double middle = 0.5 * (low + high);
    (is_enough(middle) ? high : low) = middle;
  }
  return high;
}

template <class Average, class Extra, std::size_t most_forms>
class ReachSearch {
 public:
  using Box = ReachBox<Extra, most_forms>;
  using Forms = Box::Forms;
  /// How near the bound comes to the infimum, as a share of one and that.
  static constexpr double precision = 1e-3;

  ReachSearch(std::size_t n_forms, Average average) : count_(n_forms), average_(std::move(average)) {
    for (auto* rises : {&here_, &share_}) rises->resize(n_forms * average_.n_scales());
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
    std::vector<Box> roots = std::exchange(boxes, {});
    constexpr std::size_t usual = 256;
    boxes.reserve(usual);
    std::vector<std::size_t> open;
    double least = inf, least_then = inf, target = -inf;
    const auto look_at = [&](const Box& box) {
      if (box.value < least - 0.25 * precision) least = std::min(least, look(box));
    };
    const auto keep = [&](const Box& box) {
      boxes.push_back(box);
      open.push_back(boxes.size() - 1);
      std::ranges::push_heap(open, later);
    };
    const auto add = [&](Box part) {
      bound(part, inf, change);
      if (part.bound == inf) return;
      look_at(part);
      keep(part);
    };
    Forms farthest{};
    for (Box& root : roots) {
      go_down(root);
      look_at(root);
      for (std::size_t i = 0; i < count_; ++i) farthest[i] = std::max(farthest[i], root.top[i]);
    }
    // one form alone that is beyond its cap has at least `to`
    const auto set_caps = [&](double to) {
      least_then = least;
      target = to;
      for (std::size_t i = 0; i < count_ && least < inf; ++i) {
        cap_[i] = first_above(farthest[i], [&](double x) { return average_.log_evidence_of(i, x) >= target; });
      }
    };
    // what is beyond the caps comes later, if at all; true if anything is
    const auto cut_off = [&](Box& part) {
      bool any = false;
      for (std::size_t i = 0; i < count_; ++i) {
        if (!(cap_[i] < 0.8 * part.top[i] && cap_[i] > part.low[i])) continue;
        Box beyond = part;
        beyond.low[i] = part.high[i] = cap_[i];
        beyond.bound = std::max(part.bound, target);
        beyond.pending = true;
        keep(beyond);
        any = true;
      }
      return any;
    };
    set_caps(least - 0.05 * (1.0 + std::abs(least)));
    for (Box& root : roots) {
      static_cast<void>(cut_off(root));
      add(root);
    }
    while (!open.empty()) {
      std::ranges::pop_heap(open, later);
      const Box box = boxes[open.back()];
      open.pop_back();
      const bool near = least < inf && least - box.bound <= precision * (1.0 + std::abs(least));
      const bool done = near || box.bound >= enough || least < too_little;
      if (done || boxes_ >= most) return std::min(box.bound, least);
      Box part = box;
      if (box.pending) {
        part.pending = false;
        add(part);
        continue;
      }
      if (const std::vector<Box> narrower = divide(box, least); !narrower.empty()) {
        for (const Box& own : narrower) {
          look_at(own);
          keep(own);
        }
        continue;
      }
      if (box.bound >= target || least < least_then - 0.1) {
        set_caps(least - std::min(0.05 * (1.0 + std::abs(least)), 0.1 * (least - box.bound)));
      }
      if (cut_off(part)) {
        add(part);
        continue;
      }
      const std::size_t i = box.form;
      const double cut = 0.5 * (box.at[i] + 0.5 * (box.low[i] + box.top[i]));  // between the place and the middle
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
    Forms x{};
    bool changed = true;
    for (int turn = 1;; ++turn) {
      if (changed && !shrink(box)) {
        box.bound = inf;
        return;
      }
      to_gap(box);
      for (std::size_t i = 0; i < count_; ++i) average_.rises(i, box.at[i], row(here_, i));
      box.value = average_.log_evidence(here_, share_);
      box.rise = 0.0;
      double rest = box.value;
      for (std::size_t i = 0; i < count_; ++i) {
        const std::span<const double> share = row(share_, i);
        own_[i] = {box.low[i], box.at[i], box.top[i], [&](double at) { return average_.rise(i, at, share); }};
        box.rise += own_[i].here;
        rest -= own_[i].here;
      }
      const double found = rest + least_sum(box, std::span(own_).first(count_), 0.1 * precision, x);
      box.bound = std::max(box.bound, found - rounding * (1.0 + std::abs(found)));
      if (turn == most_turns || box.bound >= enough) return;
      changed = change(box, x);
      if (!changed && box.value - box.bound < 0.1 * precision) return;
      for (std::size_t i = 0; i < count_; ++i) box.at[i] += step() * (x[i] - box.at[i]);
    }
  }

 private:
  /// What rounding can do to a bound.
  static constexpr double rounding = 1e-9;

  [[nodiscard]] std::span<double> row(std::vector<double>& all, std::size_t i) const {
    return std::span(all).subspan(i * average_.n_scales(), average_.n_scales());
  }

  /// Bring `box.at` to a low place on its constraint, by tangents, and `box.value` to log E there.
  void go_down(Box& box) {
    constexpr int most_steps = 6;
    constexpr double ahead = 1.05, first = 1e-3, least = 1e-4, above_zero = 1e-9;  // shares of the way; tangents need x > 0
    if (!shrink(box)) return;
    for (std::size_t i = 0; i < count_; ++i) box.at[i] = std::max(first * box.top[i], above_zero);
    Forms slope{}, best = box.at;
    for (int turn = 0; turn <= most_steps; ++turn) {
      for (std::size_t i = 0; i < count_; ++i) average_.rises(i, box.at[i], row(here_, i));
      const double value = average_.log_evidence(here_, share_);
      if (turn > 0 && value < box.value) {
        box.value = value;
        best = box.at;
      } else if (turn > 1) {
        break;
      }
      for (std::size_t i = 0; i < count_; ++i) {
        const std::span<const double> share = row(share_, i);
        const double more = average_.rise(i, ahead * box.at[i], share) - average_.rise(i, box.at[i], share);
        slope[i] = more / ((ahead * ahead - 1.0) * box.at[i] * box.at[i]);
      }
      minimise(box, count_, slope, box.at);
      for (std::size_t i = 0; i < count_; ++i) box.at[i] = std::max({box.at[i], least * box.top[i], above_zero});
    }
    box.at = best;
  }

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
  Forms cap_{};                       ///< where one form alone has as much as was found
  std::vector<double> here_, share_;  ///< rises at `at`, and shares: one row per form
  std::array<Chords, most_forms> own_;
  long long boxes_ = 0;
};

}  // namespace linkarms
