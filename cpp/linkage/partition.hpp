// The single-linkage partition of the estimates, kept up to date from sample to sample by a certificate.
#pragma once

#include <span>
#include <vector>

#include "linkage/distances.hpp"
#include "linkage/spanning_tree.hpp"
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
  std::vector<Index> labels_, members_, start_;
};

/// The partition of M arms into K clusters by single linkage, and what proves it.
/// Invariant once made: every cluster has a spanning tree (`up`) whose edges are shorter than the shortest distance between
/// two clusters, or the cut is ambiguous. After a sample of one arm only its own edges and its row can break that.
class Partition {
 public:
  Partition(Index n_arms, Index n_clusters);

  /// From scratch.
  void make(const Distances& dist);
  /// After the distances of arm m have changed. Whether the clusters (or only the tree) were made again: false where all is as it was.
  bool update(const Distances& dist, Index m);

  [[nodiscard]] bool made() const { return made_; }
  /// The cut goes through equal edges: no rule stops on it.
  [[nodiscard]] bool ambiguous() const { return ambiguous_; }
  [[nodiscard]] const Clusters& clusters() const { return clusters_; }
  /// The labels before the last `update` that returned true.
  [[nodiscard]] std::span<const Index> labels_before() const { return before_; }
  /// Arm m's parent in the spanning tree of its cluster; -1 for a root.
  [[nodiscard]] Index up(Index m) const { return up_[static_cast<std::size_t>(m)]; }
  /// Lower bounds of each arm's distance from its nearest arm of another cluster.
  [[nodiscard]] View nearest() const { return near_; }

 private:
  friend struct PartitionAccess;  // tests
  Index n_clusters_;
  bool made_ = false, ambiguous_ = false;
  Clusters clusters_;
  std::vector<Index> before_, up_;
  std::vector<double> length_, near_;
  SpanningTree tree_;
  std::vector<Index> dirty_;  ///< arms whose distances have changed since the tree was made
  bool too_dirty_ = false;
};

}  // namespace linkarms
