#include "psi/clustered_arms.hpp"

#include <utility>

#include "linkage/spanning_tree.hpp"

namespace linkarms {

GivenClusters::GivenClusters(const Distances& dist, Clusters clusters)
    : clusters_(std::move(clusters)),
      up_(static_cast<std::size_t>(dist.size()), -1),
      lengths_(up_.size(), 0.0),
      nearest_(nearest_foreign(dist, clusters_)) {
  for (Index k = 0; k < clusters_.n_clusters(); ++k) {
    const auto arms = clusters_.members(k);
    const Index size = clusters_.size(k);
    Distances inside(size);
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j < i; ++j) inside.set(i, j, dist(arms[i], arms[j]));
    }
    const SpanningTree tree = minimum_spanning_tree(inside);
    for (Index i = 0; i < size; ++i) {
      if (tree.parent[i] < 0) continue;
      up_[arms[i]] = arms[tree.parent[i]];
      lengths_[arms[i]] = tree.length[i];
    }
  }
}

}  // namespace linkarms
