#include "pair/concave.hpp"

#include <algorithm>
#include <cmath>

namespace linkarms {
namespace {

/// Boxes and goals that a proof may take; most take a few. Each form beyond four (a variance per coordinate) doubles
/// the boxes, up to a limit.
constexpr std::size_t most_goals = 12;
constexpr int most_boxes(std::size_t n_forms) {
  return 192 << (n_forms > 4 ? std::min<std::size_t>(n_forms - 4, 3) : 0);
}
/// How often the weights of one box are turned to keep its solution inside.
constexpr int most_turns = 6;

struct Box {
  std::vector<double> low, high;
};

/// A goal, and its rises at the ends of the last box: most of the next one's are the same.
struct KnownGoal : ConcaveGoal {
  struct End {
    double t = 0.0, rise = 0.0;
  };
  std::vector<End> low, high;

  explicit KnownGoal(ConcaveGoal goal) : ConcaveGoal(std::move(goal)), low(rises.size()), high(rises.size()) {}
  double at(std::vector<End>& ends, std::size_t k, double t) const {
    End& end = ends[k];
    if (t != end.t) end = {t, rises[k].rise(t)};
    return end.rise;
  }
};

/// Looks at one box after another: those where no goal is sure to be met are cut in two.
class Prover {
 public:
  Prover(QuadraticForms& forms, std::span<const double> caps, const ProposeGoal& propose)
      : forms_(forms),
        caps_(caps),
        propose_(propose),
        weight_(caps.size()),
        chord_(caps.size()),
        t_(caps.size()),
        low_(caps.size()),
        high_(caps.size()),
        at_(caps.size()) {}

  [[nodiscard]] bool run(std::span<const double> start, double patience) {
    if (!add_goal(start)) return false;
    std::vector<Box> open{{std::vector(caps_.size(), 0.0), {caps_.begin(), caps_.end()}}};
    for (int boxes = 0; !open.empty(); ++boxes) {
      if (boxes >= patience * most_boxes(caps_.size())) return false;
      Box box = std::move(open.back());
      open.pop_back();
      cut_ = {};
      if (is_empty(box)) continue;
      if (std::ranges::any_of(goals_, [&](KnownGoal& goal) { return is_met(goal, box); })) continue;
      if (is_missed()) {  // by every goal: is there one for this place?
        const bool added = goals_.size() < most_goals && add_goal(at_);
        if (!added && cut_.allowed) {
          forms_.solve(at_weight_, t_);
          return false;
        }
        if (added) {
          open.push_back(std::move(box));
          continue;
        }
      }
      const double at = cut_point(box, cut_.form);
      Box above = box;
      box.high[cut_.form] = above.low[cut_.form] = at;
      open.push_back(std::move(above));
      open.push_back(std::move(box));
    }
    return true;
  }

 private:
  /// Where the box is to be cut: at the form whose chord lies the farthest below its rise at the solution.
  struct Cut {
    std::size_t form = 0;
    double gap = 0.0;
    bool solved = false;   ///< `at_` is where the solution is, or the nearest place in the box
    bool allowed = false;  ///< `at_` is the solution itself: a lambda that the constraint allows
  };

  bool add_goal(std::span<const double> t) {
    std::optional<ConcaveGoal> goal = propose_(t);
    if (goal) goals_.insert(goals_.begin(), KnownGoal(std::move(*goal)));
    return goal.has_value();
  }

  /// Whether no lambda that the constraint allows is in the box: for some weights the least sum_k w_k t_k is above
  /// sum_k w_k high_k.
  bool is_empty(const Box& box) {
    const bool bounded = std::ranges::none_of(box.high, [](double x) { return x == inf; });
    for (std::size_t k = 0; k < weight_.size(); ++k) weight_[k] = 1.0 / std::min(box.high[k], std::max(4.0 * box.low[k], 1.0));
    for (int turn = 0; turn < most_turns; ++turn) {
      double limit = 0.0;
      bool outside = false;
      const double least = forms_.solve(weight_, t_);
      for (std::size_t k = 0; k < weight_.size(); ++k) {
        limit += weight_[k] * box.high[k];
        outside = outside || t_[k] > box.high[k];
      }
      if (bounded && least > limit * (1.0 + 1e-9)) return true;
      solved_ = weight_;
      if (!outside || !bounded) break;
      for (std::size_t k = 0; k < weight_.size(); ++k) weight_[k] *= std::clamp(t_[k] / box.high[k], 0.1, 10.0);
    }
    note_solution(box);
    return false;
  }

  /// Take the last solution, or the nearest place in the box, for `at_`.
  void note_solution(const Box& box) {
    cut_.solved = cut_.allowed = true;
    for (std::size_t k = 0; k < t_.size(); ++k) {
      at_[k] = std::clamp(t_[k], box.low[k], box.high[k]);
      cut_.allowed = cut_.allowed && std::abs(at_[k] - t_[k]) <= 0.01 * at_[k];
    }
    if (cut_.allowed) at_ = t_;
    at_weight_ = solved_;
  }

  // For t in [low, high] the rise is at least g(low) + w (t - low) where w is at most the slope of the chord, and
  // g(high) + w (t - high) where it is at least that: a Gaussian problem and a constant, for any w. Where the solution
  // leaves the box, another w gives more.
  bool is_met(KnownGoal& goal, const Box& box) {
    const auto& rises = goal.rises;
    double least = 0.0;
    for (std::size_t k = 0; k < rises.size(); ++k) {
      low_[k] = goal.at(goal.low, k, box.low[k]);
      high_[k] = goal.at(goal.high, k, box.high[k]);
      least += low_[k];
      chord_[k] = box.high[k] < inf ? (high_[k] - low_[k]) / (box.high[k] - box.low[k]) : 0.0;
      weight_[k] = chord_[k];
    }
    if (least >= goal.needed) return true;
    // a form without an upper end, or one that does not count, moves for nothing: cut what rises most
    if (std::ranges::any_of(chord_, [](double x) { return !(x > 0.0); })) {
      propose_widest(1e-9);
      return false;
    }
    for (int turn = 0; turn < most_turns; ++turn) {
      double bound = forms_.solve(weight_, t_);
      solved_ = weight_;
      for (std::size_t k = 0; k < rises.size(); ++k) {
        const bool steep = weight_[k] > chord_[k];
        bound += (steep ? high_[k] : low_[k]) - weight_[k] * (steep ? box.high[k] : box.low[k]);
      }
      if (bound >= goal.needed) return true;
      bool turned = false;
      for (std::size_t k = 0; k < rises.size(); ++k) {
        const double end = t_[k] < 0.99 * box.low[k] ? box.low[k] : t_[k] > 1.01 * box.high[k] ? box.high[k] : 0.0;
        if (end == 0.0) continue;
        weight_[k] *= std::clamp(std::sqrt(t_[k] / end), 0.1, 10.0);
        turned = true;
      }
      if (!turned) break;
    }
    propose_cut(goal, box);
    return false;
  }

  /// Propose to cut where the solution is farthest above the chord.
  void propose_cut(const ConcaveGoal& goal, const Box& box) {
    Cut best = cut_;
    for (std::size_t k = 0; k < goal.rises.size(); ++k) {
      const double t = std::clamp(t_[k], box.low[k], box.high[k]);
      const double gap = goal.rises[k].rise(t) - low_[k] - chord_[k] * (t - box.low[k]);
      if (gap > best.gap) {
        best.form = k;
        best.gap = gap;
      }
    }
    if (best.gap > cut_.gap) {
      cut_ = best;
      note_solution(box);
    }
    propose_widest(1e-9);
  }
  /// Propose to cut what rises most, for want of something better: it counts `share` times.
  void propose_widest(double share) {
    for (std::size_t k = 0; k < low_.size(); ++k) {
      const double gap = share * (high_[k] - low_[k]);
      if (gap > cut_.gap) {
        cut_.form = k;
        cut_.gap = gap;
      }
    }
  }

  /// Whether no goal is met at `at_`.
  [[nodiscard]] bool is_missed() const {
    return std::ranges::all_of(goals_, [&](const ConcaveGoal& goal) {
      double value = 0.0;
      for (std::size_t k = 0; k < at_.size(); ++k) value += goal.rises[k].rise(at_[k]);
      return value < goal.needed;
    });
  }

  [[nodiscard]] double cut_point(const Box& box, std::size_t k) const {
    const double low = box.low[k], high = box.high[k];
    if (high == inf) return std::max(4.0 * low, 1.0);
    const double margin = 0.1 * (high - low), middle = std::sqrt(std::max(low, 0.01 * high) * high);
    const bool inside = cut_.solved && at_[k] > low + margin && at_[k] < high - margin;
    return inside ? at_[k] : std::clamp(middle, low + margin, high - margin);
  }

  QuadraticForms& forms_;
  std::span<const double> caps_;
  const ProposeGoal& propose_;
  std::vector<KnownGoal> goals_;
  std::vector<double> weight_, chord_, t_;
  std::vector<double> low_, high_;  ///< the rises of a goal at the ends of a box
  Cut cut_;
  std::vector<double> solved_;          ///< the weights of the last solution
  std::vector<double> at_, at_weight_;  ///< the solution that `cut_` is about, and its weights
};

}  // namespace

double descend(QuadraticForms& forms, std::span<const AveragedRise> rises, std::span<double> t) {
  std::vector<double> weight(rises.size());
  double value = inf, least = 0.0;  // of the weights: a form may rise no more, or not count at all
  for (const AveragedRise& rise : rises) least = std::max(least, 1e-9 * rise.slope(0.0));
  for (int turn = 0; turn < 30; ++turn) {
    for (std::size_t k = 0; k < rises.size(); ++k) weight[k] = std::max(rises[k].slope(t[k]), least);
    forms.solve(weight, t);
    double next = 0.0;
    for (std::size_t k = 0; k < rises.size(); ++k) next += rises[k].rise(t[k]);
    const bool settled = next > value - 1e-6 * (1.0 + std::abs(value));
    value = std::min(value, next);
    if (settled) break;
  }
  return value;
}

bool is_reached(QuadraticForms& forms, std::span<const double> caps, std::span<const double> start, const ProposeGoal& propose,
                double patience) {
  return Prover(forms, caps, propose).run(start, patience);
}

}  // namespace linkarms
