// The pair problem with a tolerance (section 8 of math.md):
//
//   min sum_m w_m KL(theta_m, lambda_m)   subject to  |lambda_u - lambda_v| >= |lambda_a - lambda_b| + eps
//
// Lengths between clusters come stretched by eps (linkage/stretched.hpp).
#pragma once

#include <array>
#include <memory>

#include "pair/problem.hpp"

namespace linkarms {

/// The lengths of a pair of pairs, not stretched: p of the intra pair, q of the inter pair; r of (v, b) where u = a is
/// shared. `line`: the arms have one coordinate.
struct TolerantLengths {
  double p, q, r = 0.0;
  double eps;
  bool shared = false, line = false;
};

/// Where Gaussian arms go: u by t i_u (e - h), v by -t i_v e, b by t i_b h, and a (not shared) by -t i_a h. Vectors are
/// given by their parts along q and across it, towards p. Where the inter pair meets on the way (four arms), the two
/// pairs have multipliers of their own.
struct TolerantMove {
  double cost = 0.0;  ///< never above the minimum
  double t = 0.0, t_inter = 0.0;
  std::array<double, 2> e{1.0, 0.0}, h{1.0, 0.0};

  /// The squared shifts of u, v, b, a.
  [[nodiscard]] std::array<double, 4> squares(const std::array<double, 4>& spread, bool shared) const;
};

/// `spread` of u, v, b, a. Four arms: exact. A shared arm on a line: exact but for a crossing of the inter pair.
/// Elsewhere: for a multiplier t and unit vectors h, the dual value
///   t (eps + h.q) - t^2 (i_v + i_b + 2 i_u) / 2 - t |p - t i_u h|,
/// which is a lower bound for any t and h; h turns from the direction of q to that of the inter pair where it ends.
[[nodiscard]] TolerantMove tolerant_move(const TolerantLengths& lengths, const std::array<double, 4>& spread);

/// The move of a witness whose arms have these spreads; lengths between clusters come stretched.
[[nodiscard]] TolerantMove tolerant_move(const Weighted& at, const Witness& w, double eps, bool line);
/// Move the rows of `lam` (elsewhere a copy of theta) accordingly.
void apply_move(const Weighted& at, const Witness& w, const TolerantMove& to, Matrix& lam);

/// The solver for a tolerance above 0. Arms with full covariances: the larger of the cost without a tolerance and the
/// closed form at the largest variances. Vectors of other families: see pair/tolerant_vector.hpp.
[[nodiscard]] std::unique_ptr<PairProblem> make_tolerant_problem(const Model& model, double tolerance);

}  // namespace linkarms
