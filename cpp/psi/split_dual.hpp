// Gaussian arms: the dual of the problem of one split (section 2.2 of math.md, exact in d >= 2).
//
//   min 1/2 (lambda - theta)' W (lambda - theta)   subject to   |lambda_u - lambda_v|^2 >= |lambda_a - lambda_b|^2
//                                                               for pairs (u, v)
//
// with W the weights over the covariances. Let lambda' Q_i lambda be the difference of the two sides. For
// multipliers mu >= 0 at which A(mu) = W - sum_i mu_i Q_i is positive definite the Lagrangian has one
// minimum, lambda(mu) = theta + A^-1 Q(mu) theta, and its value D(mu) is a lower bound of the cost (weak
// duality). D is concave. Where it is largest inside the positive definite mu, lambda(mu) obeys all
// constraints and costs D(mu): it is the minimum, and that is proved.
#pragma once

#include <span>
#include <vector>

#include "math/matrix.hpp"

namespace linkarms {

/// The arms and pairs of one split. Arm i has `rows` coordinates that its precision couples, in `cols`
/// independent copies: with a covariance rows = d and cols = 1; where every arm has one variance the
/// coordinates separate, so rows = 1 and cols = d.
struct SplitArms {
  Index n, rows, cols;
  std::vector<double> theta;      ///< [i][row][col]
  std::vector<double> precision;  ///< [i][row][row]: weight over covariance
  std::vector<Index> u, v;        ///< the pairs that are to become as long as (a, b)
  Index a, b;                     ///< the inter pair
};

/// How an ascent ended: at the maximum; where the level was reached; where the positive definite multipliers
/// end.
enum class AscentEnd { solved, reached, edge };

struct Ascent {
  double value;  ///< the largest D that was met: a lower bound of the cost, however it ended
  AscentEnd end;
  std::vector<double> mu;      ///< the multipliers reached
  std::vector<double> lambda;  ///< lambda(mu), as theta
};

/// Maximise D over mu >= 0, from `mu`; it ends where D reaches `level`. Newton's method; where it runs into
/// the edge of the positive definite mu it goes back inside and follows the maxima of D + tau log det A as
/// tau goes to zero.
[[nodiscard]] Ascent ascend(const SplitArms& split, std::vector<double> mu, double level);

}  // namespace linkarms
