// Two arms of any family in d >= 2 that have to come near to each other, or apart (section 7.1 of math.md), by Gaussians
// that dominate them, as in pair/dominating.hpp: a safe lower bound.
#pragma once

#include <array>

#include "pair/dominating.hpp"
#include "pair/quadratic_two_arms.hpp"

namespace linkarms {

/// Move an arm, on the straight line that costs least, until it is at the distance r from `other`, to which it is nearer.
/// Lines are along a coordinate, or for probabilities towards a single category. Writes where it is and returns the cost;
/// infinite where no line gets there.
double move_away(const MovingArms::One& arm, View other, double r, MutView out);

/// Whether a Gaussian dominates the arm at any price: all its coordinates are probabilities.
[[nodiscard]] bool is_bounded(const Arm& arm);

/// Bounds the cost from both sides; see `DominatingPair`.
class DominatingTwoArms {
 public:
  explicit DominatingTwoArms(const Model& model);

  /// |x - y| at most r, or at least r. As soon as the lower bound is above `level` the search ends. Both bounds are
  /// infinite where one arm is bounded and no point is known that is far enough away.
  Bounds solve(const MovingArms::One& first, const MovingArms::One& second, Apart apart, double r, double level);

  /// Where the arms go: the feasible point of the upper bound, or the minimiser of the quadratic problem, brought into the
  /// domain.
  [[nodiscard]] const Matrix& point() const { return point_; }
  [[nodiscard]] const Matrix& aim() const { return aim_; }

 private:
  [[nodiscard]] double first_point(const std::array<MovingArms::One, 2>& arms, Apart apart, double r);

  Matrix basis_;
  QuadraticTwoArms pair_;
  Matrix point_, aim_, small_;
  std::array<Matrix, 2> covariance_;
};

}  // namespace linkarms
