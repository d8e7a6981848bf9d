// Two Gaussian arms with full covariances that have to come near to each other, or apart (section 7.1 of math.md).
//
// Only x = lambda_a - lambda_b matters, with the covariance S = Sigma_a / w_a + Sigma_b / w_b = U diag(s) U' and
// b = U' (theta_a - theta_b):
//   min sum_i (x_i - b_i)^2 / (2 s_i)   subject to  |x| <= r, or |x| >= r.
// One multiplier: x_i = b_i / (1 + mu s_i), or b_i / (1 - mu s_i) with mu <= 1 / s_max. The value is the dual's:
//   mu/2 (sum b_i^2 / (1 + mu s_i) - r^2),   mu/2 (r^2 - sum b_i^2 / (1 - mu s_i)).
// Hard case of |x| >= r: b has no part in the top eigenspace and |x| is too small at 1 / s_max; the rest goes there.
#pragma once

#include "math/matrix.hpp"
#include "pair/covariance.hpp"

namespace linkarms {

/// What is asked of the distance of two arms.
enum class Apart { at_most, at_least };

/// Solves such problems in d dimensions, one after the other.
class QuadraticTwoArms {
 public:
  explicit QuadraticTwoArms(Index d) : shift_(2, d) {}

  /// The cost, the dual's and so never above the minimum; how far the two arms move is then in `shift`.
  double solve(const QuadraticArm& first, const QuadraticArm& second, Apart apart, double r);
  [[nodiscard]] const Matrix& shift() const { return shift_; }

 private:
  Matrix shift_;
};

}  // namespace linkarms
