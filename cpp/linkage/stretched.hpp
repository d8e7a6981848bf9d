// Distances with those between clusters longer by a tolerance (section 8 of math.md).
//
// |lambda_u - lambda_v| >= |lambda_a - lambda_b| + eps  is the constraint of a pair of pairs with a tolerance. Wherever
// only the difference |q| - |p| of the two lengths counts, the formulas without a tolerance at the lengths |q| + eps
// and |p| are right.
#pragma once

#include "linkage/distances.hpp"
#include "linkage/partition.hpp"

namespace linkarms {

/// Row m of `out`: the distances of arm m, longer by eps to arms of other clusters.
inline void stretch_row(const Distances& dist, const Clusters& clusters, double eps, Index m, Distances& out) {
  for (Index j = 0; j < dist.size(); ++j) {
    if (j != m) out.set(m, j, clusters.together(m, j) ? dist(m, j) : dist(m, j) + eps);
  }
}

/// All rows.
inline void stretch(const Distances& dist, const Clusters& clusters, double eps, Distances& out) {
  for (Index m = 0; m < dist.size(); ++m) stretch_row(dist, clusters, eps, m, out);
}

}  // namespace linkarms
