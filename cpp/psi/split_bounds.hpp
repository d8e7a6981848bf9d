// Which cluster can be split against which inter pair at less than a given cost, for Gaussian arms.
#pragma once

#include <span>

#include "linkage/distances.hpp"
#include "linkage/partition.hpp"
#include "psi/split_dual.hpp"

namespace linkarms {

/// Lower bounds of the cost to split cluster k against a < b, from distances alone (the bottleneck with the
/// bound of an isotropic pair); `level` where they reach that. `spread` is the largest variance of each arm
/// over its weight. bounds has K x M x M entries: infinite where a and b are in one cluster, a >= b, or k has
/// one arm.
void split_bounds(const Distances& dist, View spread, const Clusters& clusters, double level, MutView bounds);

/// Lower bounds of cost(u, v; a, b) for all two arms of a cluster, by the dual of a single pair; `level`
/// where they reach it. `all` holds every arm (its pairs are ignored); values has n x n entries for the n
/// arms of the cluster, infinite on the diagonal.
void pair_values(const SplitArms& all, std::span<const Index> cluster, Index a, Index b, double level, MutView values);

}  // namespace linkarms
