// The pair problem with costs that are concave functions of quadratic forms (section 6 of math.md: unknown
// variances).
//
//   minimise  sum_k g_k(t_k)   subject to  |lambda_u - lambda_v| >= |lambda_a - lambda_b|
//
// where t_k is a quadratic form of one arm's x_m - lambda_m and g_k is concave, increasing and 0 at 0. Where each
// t_k is in an interval, g_k lies above its chord there, and with chords for costs it is the Gaussian problem of
// section 2.1: a bound from below, and by halving the intervals as tight as wanted. Tangents in place of chords
// bound it from above: a descent.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "family/variance_rise.hpp"
#include "math/constants.hpp"

namespace linkarms {

/// g(t) = sum_j share_j rise_j(t): the rise for one c, or averaged over several.
class AveragedRise {
 public:
  static constexpr std::size_t most = 8;
  void add(double share, const VarianceRise& rise) { parts_[size_++] = {share, rise}; }

  [[nodiscard]] double rise(double t) const {
    double total = 0.0;
    for (std::size_t j = 0; j < size_; ++j)
      total += parts_[j].share * (t < inf ? parts_[j].rise.rise(t) : parts_[j].rise.limit());
    return total;
  }
  [[nodiscard]] double slope(double t) const {
    double total = 0.0;
    for (std::size_t j = 0; j < size_; ++j) total += parts_[j].share * parts_[j].rise.slope(t);
    return total;
  }
  [[nodiscard]] double limit() const { return rise(inf); }

 private:
  struct Part {
    double share;
    VarianceRise rise;
  };
  std::array<Part, most> parts_{};
  std::size_t size_ = 0;
};

/// The Gaussian problem below it: minimise sum_k weight_k t_k under the same constraint.
class QuadraticForms {
 public:
  virtual ~QuadraticForms() = default;
  /// The minimum, or a lower bound within rounding; `t` becomes the forms at the minimiser. Weights are above 0.
  double solve(std::span<const double> weight, std::span<double> t) {
    ++solved_;
    return solve_at(weight, t);
  }
  /// How often it was solved.
  [[nodiscard]] long long solved() const { return solved_; }

 protected:
  QuadraticForms() = default;
  QuadraticForms(const QuadraticForms&) = default;
  QuadraticForms& operator=(const QuadraticForms&) = default;
  virtual double solve_at(std::span<const double> weight, std::span<double> t) = 0;

 private:
  long long solved_ = 0;
};

/// A local minimiser: tangents from the forms in `t`, until nothing changes; `t` becomes its forms and `forms`
/// is left at it. Returns its value.
double descend(QuadraticForms& forms, std::span<const AveragedRise> rises, std::span<double> t);

/// One way to reach a level: sum_k g_k(t_k) >= needed.
struct ConcaveGoal {
  std::vector<AveragedRise> rises;
  double needed;
};

/// A goal for the surroundings of a lambda with the forms `t`, which it meets there; none where the level is not
/// reached there in any way.
using ProposeGoal = std::function<std::optional<ConcaveGoal>(std::span<const double> t)>;

/// Whether at every lambda that the constraint allows, and whose t_k are at most their caps (which may be infinite),
/// some goal is met; the first is that for `start`. Never true where it is not so; false too where that takes too long
/// to show: `patience` times as long as usual, which may be less than one. Where it is refuted, `forms` is left at a lambda that
/// shows it.
[[nodiscard]] bool is_reached(QuadraticForms& forms, std::span<const double> caps, std::span<const double> start,
                              const ProposeGoal& propose, double patience = 1.0);

}  // namespace linkarms
