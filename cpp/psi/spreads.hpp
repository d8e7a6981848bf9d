// The weights of the arms, and the spreads that follow from them.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "math/matrix.hpp"
#include "psi/bounds.hpp"
#include "psi/candidate.hpp"

namespace linkarms::psi {

/// Weights, none of them zero, and spreads: the Gaussian formulas at these are lower bounds of all costs up
/// to `level`. Invariant: a spread belongs to the arm's present weight, to its estimate when that was
/// assigned, and to `level`.
class Spreads {
 public:
  template <class Problem>
  Spreads(const Problem& problem, Index n_arms)
      : weight_(static_cast<std::size_t>(n_arms)),
        spread_(static_cast<std::size_t>(n_arms)),
        level_(problem.has_fixed_spread() ? inf : -1.0) {}

  [[nodiscard]] double operator[](Index m) const { return spread_[m]; }
  [[nodiscard]] View values() const { return spread_; }
  [[nodiscard]] View weights() const { return weight_; }
  /// The largest cost of which the spreads say anything. Negative: they are rough figures that bound nothing.
  [[nodiscard]] double level() const { return level_; }
  /// The least level that a bound has to be above: 0, or `level` where the spreads say nothing about lower
  /// ones.
  [[nodiscard]] double least() const { return least_; }
  /// How much a difference of two lengths may be off because costs are found from the estimates, not from
  /// their differences.
  [[nodiscard]] double slack() const { return slack_; }
  /// Double the level that a bound has to be above to rule out costs of at most `best`.
  [[nodiscard]] double twice(double best) const { return 2.0 * std::max(best, least_) * room; }

  /// Assign all weights, or that of `moved` if no other has changed; weights below `floor` times the largest
  /// are raised to it. Whether only the weight of `moved` has changed.
  template <class Problem>
  bool assign(const Problem& problem, const Matrix& theta, View weights, std::optional<Index> moved) {
    const auto [least, largest] = range_of(weights);
    const bool raise = !(least > floor * largest), one = moved && !raise && !raised_;
    raised_ = raise;
    if (one) {
      set(problem, theta, *moved, weights[*moved]);
    } else {
      for (Index m = 0; m < theta.rows(); ++m) {
        set(problem, theta, m, std::max(weights[m], floor * largest));
      }
    }
    return one;
  }

  /// See to it that the spreads hold at `value`. Whether they had to be found again, because they depend on
  /// the level.
  template <class Problem>
  bool fit(const Problem& problem, const Matrix& theta, double value) {
    if (problem.has_fixed_spread() || (value <= level_ && level_ <= ahead * ahead * value)) return false;
    level_ = ahead * value;
    slack_ = 0.0;
    least_ = problem.has_quadratic() ? 0.0 : level_;
    for (Index m = 0; m < theta.rows(); ++m) set(problem, theta, m, weight_[m]);
    return true;
  }

  [[nodiscard]] std::size_t bytes() const { return (weight_.size() + spread_.size()) * sizeof(double); }

  /// Weights below this share of the largest are raised to it; the limits of all formulas are then right.
  static constexpr double floor = 1e-12;

 private:
  /// Spreads that depend on the level are found for one this much higher, and used until it is reached or is
  /// this much squared too high.
  static constexpr double ahead = 1.15;

  template <class Problem>
  void set(const Problem& problem, const Matrix& theta, Index m, double weight) {
    weight_[m] = weight;
    if (!problem.has_fixed_spread()) {
      for (const double x : theta.row(m)) slack_ = std::max(slack_, (1.0 - shrink) * std::abs(x));
    }
    // an infinite spread times a level of zero would not be a number
    spread_[m] = std::min(problem.spread(m, theta.row(m), weight, level_), 1e300);
  }

  std::vector<double> weight_, spread_;
  double level_, least_ = 0.0, slack_ = 0.0;
  bool raised_ = false;
};

}  // namespace linkarms::psi
