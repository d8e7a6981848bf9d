// Arms with one parameter each: the lowest-cost alternative for one split of a cluster.
//
// On a line a cluster falls into two parts iff a gap opens between its left arms L and its right arms R. With
// x the right end of L, y the left end of R and theta_a <= theta_b the problem of one split is
//
//   min sum_m w_m KL(theta_m, lambda_m)   subject to   lambda_u <= x (u in L),  lambda_v >= y (v in R),
//                                                      y - x >= lambda_b - lambda_a .
//
// At the minimum the arms of L that moved lie together at x, those of R at y. KL(theta, .) depends on theta
// through its mean parameter, linearly, so arms of one family in one place are one arm: weights add up, mean
// parameters are averaged, and sum w KL(theta_m, average) is left over. What remains is the pair problem with
// the two pools as intra pair. Pools start with the arms next to the gap. An arm that ends on the wrong side
// of it joins, and none ever has to leave: each that joins holds the gap's end back on its own side of the
// arm. (The shared arm, a or b in the cluster, is first left out of the pool; if it then lies on the wrong
// side its constraint holds with equality, and it belongs to the pool.)
//
// The other sign of lambda_b - lambda_a need not be looked at: where the minimum above has y < x both signs
// hold with equality, which costs at least as much as to bring a and b together, and that is an alternative
// by itself.
//
// Where a divergence is not convex (gamma by the mean beyond its inflection) all this holds as long as no arm
// can reach its inflection at less than the cost of an alternative that is known: the problem is convex where
// it matters.
#pragma once

#include <span>
#include <vector>

#include "family/model.hpp"
#include "math/matrix.hpp"

namespace linkarms {

/// Arms on a line and what their samples weigh; no weight is zero.
struct Line {
  const Model& model;
  View theta, weight;

  [[nodiscard]] double cost(Index m, double at) const { return weight[m] * kl(model.scalar(m), theta[m], at); }
};

/// A lower bound of a cost, and the cost of a point that was found.
struct Bounds {
  double lower, upper;
};

/// The lowest-cost alternative for one split. The two bounds are the same but for rounding, except where an
/// arm can pass its inflection at less than `level`. Where the lower one is at least `level` the upper one is
/// infinite.
/// - cluster: sorted by theta; all of one family, unless there are two
/// - right: which of them are in R
/// - a, b: the inter pair, theta[a] <= theta[b]
/// - level: costs of this and more are only known to be that; not above what it costs to bring a and b together
/// - lam: a copy of theta; its entries for the cluster, a and b are set where the upper bound is below `level`
[[nodiscard]] Bounds split_cost(const Line& line, std::span<const Index> cluster, const std::vector<bool>& right, Index a,
                                Index b, double level, MutView lam);

/// What it costs to bring a and b, theta[a] <= theta[b], to one place, and that place; only known to be above
/// `level` where it is.
struct Meeting {
  double cost, place;
};
[[nodiscard]] Meeting meeting_cost(const Line& line, Index a, Index b, double level);

}  // namespace linkarms
