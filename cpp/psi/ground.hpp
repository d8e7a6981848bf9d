// What a search is about: where the arms are, and how they are grouped.
#pragma once

#include <span>
#include <vector>

#include "linkage/distances.hpp"
#include "linkage/partition.hpp"
#include "math/matrix.hpp"

namespace linkarms::psi {

/// The estimates and their clusters, as they are now.
struct Ground {
  const Matrix& theta;
  const Distances& dist;
  const Clusters& clusters;
  std::span<const Index> up;  ///< parents in a spanning tree of each cluster, of short edges; -1 for a root
  View lengths;               ///< of these edges; 0 for a root
  View nearest;               ///< lower bounds of each arm's distance from its nearest arm of another cluster

  [[nodiscard]] Index size() const { return dist.size(); }
  [[nodiscard]] bool together(Index i, Index j) const { return clusters.together(i, j); }
};

/// What a `Partition` keeps anyway, for any clusters.
struct Surroundings {
  std::vector<Index> up;
  std::vector<double> lengths, nearest;

  Surroundings(const Distances& dist, const Clusters& clusters);
};

}  // namespace linkarms::psi
