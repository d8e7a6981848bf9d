// The pair problem of any family in d >= 2 by Gaussians that dominate it: a safe lower bound (section 2.1 of
// math.md).
#pragma once

#include <array>

#include "pair/covariance.hpp"
#include "pair/moving_arms.hpp"

namespace linkarms {

/// Orthonormal directions in which arms can move, in columns: all of them, or for probabilities those that
/// add up to zero.
[[nodiscard]] Matrix tangent_basis(const Model& model);

/// The covariance of a Gaussian that costs no more than the arm wherever its KL is at most `level`, in the coordinates of
/// the basis.
void dominating_covariance(const MovingArms::One& arm, double level, const Matrix& basis, Matrix& out);
/// Shorten the step from the estimate to x until its divergence is finite.
void bring_into_domain(const MovingArms::One& arm, MutView x);
/// Where two arms meet: at their weighted mean. Where arms of different families leave their domain there, the coordinate
/// comes nearer to one of the two, until both costs are finite.
void find_meeting_point(const MovingArms::One& a, const MovingArms::One& b, MutView x);

/// Bounds the cost of a pair problem from both sides.
/// Every lambda that costs at most c keeps arm m where KL_m <= c / w_m. There the KL is at least a quadratic,
/// and the Gaussian problem with its covariance is a lower bound. The minimiser of that obeys the same
/// constraint, so its true cost is an upper bound c, with which the quadratic is chosen again. Between the
/// two lies the truth; only the lower one is ever used for stopping.
class DominatingPair {
 public:
  explicit DominatingPair(const Model& model);

  /// As soon as the lower bound reaches `level` the search ends.
  Bounds solve(const MovingArms& arms, double level);

  /// The feasible point of the upper bound, near the minimum.
  [[nodiscard]] const Matrix& point() const { return point_; }
  /// The minimiser of the quadratic problem, brought into the domain: where sampling rules look when the
  /// bounds are far apart.
  [[nodiscard]] const Matrix& aim() const { return aim_; }
  [[nodiscard]] const Matrix& basis() const { return basis_; }

 private:
  [[nodiscard]] bool well_scaled(const MovingArms& arms) const;

  Matrix basis_;
  QuadraticPair pair_;
  Matrix point_, aim_, trial_;
  Matrix small_;                      ///< the arms in the coordinates of the basis
  std::array<Matrix, 4> covariance_;  ///< of the arms, in the same coordinates
};

}  // namespace linkarms
