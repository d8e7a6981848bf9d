// Arms with one parameter each: psi over all splits, exactly (section 2.2 of math.md, exact in d = 1).
//
// Given the ends x, y of the gap (psi/line_split.hpp), lambda_a and lambda_b, every other arm of the cluster
// chooses the side that costs less for itself, whatever its weight; and for one family KL(theta, x) grows and
// KL(theta, y) falls with theta in between, so the arms below some point are left. Only where all would
// choose one side must one arm be taken to the other. So besides the two sides of a shared arm the splits in
// question are those of the sorted arms, and single arms against the rest: not 2^n but about 3 n.
#pragma once

#include "linkage/partition.hpp"
#include "psi/line_split.hpp"

namespace linkarms {

/// psi of arms on a line: a lower bound, and the cost of `lam`.
/// - floor: a lower bound of psi: all that is known of clusters of three arms and more that are not of one shipped family
/// - ceiling: an upper one: what `lam` costs, or infinite
/// - lam: becomes the lowest-cost alternative that was found, a true one but for rounding; left alone where none is below
///   `ceiling`
[[nodiscard]] Bounds line_psi(const Line& line, const Clusters& clusters, double floor, double ceiling, MutView lam);

}  // namespace linkarms
