// What a search for psi is about: where the arms are, and how they are grouped.
#pragma once

#include <span>
#include <vector>

#include "linkage/distances.hpp"
#include "linkage/partition.hpp"
#include "math/matrix.hpp"

namespace linkarms {

/// The estimates, their distances and their clusters: a view of what somebody else keeps.
struct ClusteredArms {
  const Matrix& theta;
  const Distances& dist;  ///< with a tolerance and K clusters they are stretched: see linkage/stretched.hpp
  const Clusters& clusters;
  std::span<const Index> up;  ///< parents in a spanning tree of each cluster, of short edges; -1 for a root
  View lengths;               ///< of these edges; 0 for a root
  View nearest;               ///< lower bounds of each arm's distance from its nearest arm of another cluster

  [[nodiscard]] Index size() const { return dist.size(); }
  [[nodiscard]] bool together(Index i, Index j) const { return clusters.together(i, j); }
};

[[nodiscard]] inline ClusteredArms clustered(const Matrix& theta, const Distances& dist, const Partition& partition) {
  return {theta, dist, partition.clusters(), partition.up(), partition.lengths(), partition.nearest()};
}

/// What a `Partition` keeps anyway, for any clusters.
class GivenClusters {
 public:
  GivenClusters(const Distances& dist, Clusters clusters);

  [[nodiscard]] const Clusters& clusters() const { return clusters_; }
  /// At the distances that it was made of.
  [[nodiscard]] ClusteredArms at(const Matrix& theta, const Distances& dist) const {
    return {theta, dist, clusters_, up_, lengths_, nearest_};
  }

 private:
  Clusters clusters_;
  std::vector<Index> up_;
  std::vector<double> lengths_, nearest_;
};

}  // namespace linkarms
