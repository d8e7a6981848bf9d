#include "linkage/clusters.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "math/constants.hpp"

namespace linkarms {

Clusters::Clusters(std::vector<Index> labels, Index n_clusters)
    : labels_(std::move(labels)), members_(labels_.size()), start_(n_clusters + 1, 0) {
  for (const Index k : labels_) {
    assert(0 <= k && k < n_clusters);
    ++start_[k + 1];
  }
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  std::vector<Index> next(start_.begin(), start_.end() - 1);
  for (Index m = 0; m < n_arms(); ++m) members_[next[label(m)]++] = m;
}

std::span<const Index> Clusters::members(Index k) const {
  return std::span(members_).subspan(start_[k], start_[k + 1] - start_[k]);
}

double nearest_foreign(const Distances& dist, const Clusters& clusters, Index a) {
  const View row = dist.row(a);
  const auto labels = clusters.labels();
  double nearest = inf;
  for (std::size_t b = 0; b < labels.size(); ++b) {
    if (labels[b] != labels[a] && row[b] < nearest) nearest = row[b];
  }
  return nearest;
}

std::vector<double> nearest_foreign(const Distances& dist, const Clusters& clusters) {
  std::vector<double> nearest(clusters.n_arms());
  for (Index a = 0; a < clusters.n_arms(); ++a) nearest[a] = nearest_foreign(dist, clusters, a);
  return nearest;
}

Regrouping::Regrouping(const Clusters& before, const Clusters& now) {
  std::vector<Index> size(static_cast<std::size_t>(now.n_clusters()));
  for (Index k = 0; k < before.n_clusters(); ++k) {
    const auto arms = before.members(k);
    if (arms.size() == 1) {
      alone.push_back(arms.front());
    } else if (!std::ranges::all_of(arms, [&](Index m) { return now.together(m, arms.front()); })) {
      BrokenCluster cluster{{arms.begin(), arms.end()}, {}, -1};
      std::ranges::fill(size, 0);
      for (const Index m : arms) ++size[now.label(m)];
      cluster.main = static_cast<Index>(std::ranges::max_element(size) - size.begin());
      for (const Index m : arms) {
        if (now.label(m) != cluster.main) cluster.left.push_back(m);
      }
      broken.push_back(std::move(cluster));
    }
  }
}

}  // namespace linkarms
