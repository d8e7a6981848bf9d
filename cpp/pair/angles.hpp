// The pair problem in two dimensions, for any family: a certified search over the direction of the intra
// pair.
//
// lambda obeys |lambda_u - lambda_v| >= |lambda_a - lambda_b| iff for some unit vector e  e.(lambda_u -
// lambda_v) >= |lambda_a - lambda_b|. For all directions within an angle alpha of e together this implies
//
//   e.(lambda_u - lambda_v) >= cos(alpha) h.(lambda_a - lambda_b)      for every unit vector h,
//
// one linear constraint. Its minimum is a lower bound for that whole range of directions, whatever h; the
// best h is the direction of lambda_a - lambda_b. Ranges whose bound is too low are halved: the deficit falls
// with alpha^2.
#pragma once

#include <optional>

#include "pair/moving_arms.hpp"

namespace linkarms {

/// The search ends where lower and upper bound differ by less than this, relatively.
inline constexpr double angle_gap = 3e-8;

/// Narrows the bounds of pair problems whose arms move in two dimensions and have no full covariance.
class AngleSearch {
 public:
  /// `basis` has two columns: orthonormal directions.
  explicit AngleSearch(Matrix basis);

  /// Narrow the bounds until they differ by less than `angle_gap`, the lower one reaches `level`, or the
  /// directions are used up; `best` is the point of the upper bound, and stays that.
  Bounds narrow(const MovingArms& arms, Bounds bounds, double level, Matrix& best);

 private:
  [[nodiscard]] std::optional<double> inter_angle(View a, View b) const;
  double range_bound(const MovingArms& arms, double angle, double alpha, double level);
  double linear_bound(const MovingArms& arms, double level);
  double repaired_cost(const MovingArms& arms);

  Matrix basis_;
  Matrix point_;     ///< minimiser of the last linear problem
  Matrix kappa_;     ///< its constraint, one row per arm
  double mu_ = 0.0;  ///< its multiplier, where the next one begins
};

}  // namespace linkarms
