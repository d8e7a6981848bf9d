// A partition of the arms into clusters, and what has changed between two of them.
#pragma once

#include <span>
#include <vector>

#include "linkage/distances.hpp"
#include "math/matrix.hpp"

namespace linkarms {

/// The arms of each cluster: labels are 0..K-1 in order of first appearance.
class Clusters {
 public:
  Clusters() = default;
  Clusters(std::vector<Index> labels, Index n_clusters);

  [[nodiscard]] Index n_arms() const { return static_cast<Index>(labels_.size()); }
  [[nodiscard]] Index n_clusters() const { return static_cast<Index>(start_.size()) - 1; }
  [[nodiscard]] std::span<const Index> labels() const { return labels_; }
  [[nodiscard]] Index label(Index m) const { return labels_[static_cast<std::size_t>(m)]; }
  [[nodiscard]] bool together(Index i, Index j) const { return label(i) == label(j); }
  /// The arms of cluster k, by index.
  [[nodiscard]] std::span<const Index> members(Index k) const;
  [[nodiscard]] Index size(Index k) const { return static_cast<Index>(members(k).size()); }

 private:
  std::vector<Index> labels_, members_, start_{0};
};

/// The distance of arm a from the nearest one of another cluster, and of each arm; infinite where there is none.
[[nodiscard]] double nearest_foreign(const Distances& dist, const Clusters& clusters, Index a);
[[nodiscard]] std::vector<double> nearest_foreign(const Distances& dist, const Clusters& clusters);

/// A cluster of the partition before whose arms are in several clusters now.
struct BrokenCluster {
  std::vector<Index> arms;
  std::vector<Index> left;  ///< those that are not in `main`, the cluster that most of them are in
  Index main;
};

/// What has changed between two partitions. Clusters that are as they were, or have only become part of
/// another, do not appear.
struct Regrouping {
  std::vector<BrokenCluster> broken;
  std::vector<Index> alone;  ///< arms that were alone

  Regrouping(const Clusters& before, const Clusters& now);

  /// Call visit(y, z) for all two arms that were together and are no longer; for some of them in both orders.
  template <class Visit>
  void parted(const Clusters& now, Visit visit) const {
    for (const BrokenCluster& cluster : broken) {
      for (const Index y : cluster.left) {
        for (const Index z : cluster.arms) {
          if (!now.together(y, z)) visit(y, z);
        }
      }
    }
  }
};

}  // namespace linkarms
