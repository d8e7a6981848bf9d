#include "psi/ground.hpp"

#include "linkage/spanning_tree.hpp"

namespace linkarms::psi {

Surroundings::Surroundings(const Distances& dist, const Clusters& clusters)
    : up(static_cast<std::size_t>(dist.size()), -1), lengths(up.size(), 0.0), nearest(nearest_foreign(dist, clusters)) {
  for (Index k = 0; k < clusters.n_clusters(); ++k) {
    const auto arms = clusters.members(k);
    const Index size = clusters.size(k);
    Distances inside(size);
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j < i; ++j) inside.set(i, j, dist(arms[i], arms[j]));
    }
    const SpanningTree tree = minimum_spanning_tree(inside);
    for (Index i = 0; i < size; ++i) {
      if (tree.parent[i] < 0) continue;
      up[arms[i]] = arms[tree.parent[i]];
      lengths[arms[i]] = tree.length[i];
    }
  }
}

}  // namespace linkarms::psi
