// The single-linkage partition of the estimates, kept up to date from sample to sample by a certificate.
#pragma once

#include <span>
#include <vector>

#include "linkage/clusters.hpp"
#include "linkage/distances.hpp"
#include "linkage/spanning_tree.hpp"
#include "math/matrix.hpp"

namespace linkarms {

/// The partition of M arms by single linkage, into K clusters, where the gap is largest, or by a distance threshold, and
/// what proves it.
/// Invariant once made: every cluster has a spanning tree (`up`) whose edges are shorter than the shortest
/// distance between two clusters (or those are below the threshold and this is not), or the cut is ambiguous.
/// After a sample of one arm only its own edges and its row can break that.
class Partition {
 public:
  Partition(Index n_arms, Index n_clusters) : Partition(n_arms, Task{.n_clusters = n_clusters}) {}
  Partition(Index n_arms, const Task& task);

  /// From scratch.
  void make(const Distances& dist);
  /// After the distances of arm m have changed. Whether the clusters (or only the tree) were made again;
  /// false where they are as they were (then the cut is not ambiguous, whatever it was before).
  bool update(const Distances& dist, Index m);

  [[nodiscard]] bool made() const { return made_; }
  /// The cut goes through equal edges: no rule stops on it.
  [[nodiscard]] bool ambiguous() const { return ambiguous_; }
  [[nodiscard]] const Clusters& clusters() const { return clusters_; }
  /// The clusters before the last `update` that returned true.
  [[nodiscard]] const Clusters& clusters_before() const { return before_; }
  /// The parents of the arms in the spanning trees of their clusters; -1 for a root.
  [[nodiscard]] std::span<const Index> up() const { return up_; }
  /// The length of the edge to that parent; 0 for a root.
  [[nodiscard]] View lengths() const { return length_; }
  /// Lower bounds of each arm's distance from its nearest arm of another cluster; made exact when they
  /// matter.
  [[nodiscard]] View nearest() const { return near_; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// Whether every tree edge is shorter than every distance between two clusters; `limit` is the longest edge
  /// with room for rounding.
  bool certify(const Distances& dist, double limit);
  void mark_dirty(Index m);
  /// Bring the spanning tree up to date.
  void span(const Distances& dist);
  void regroup(const Distances& dist);
  void cut();

  Task task_;
  bool made_ = false, ambiguous_ = false;
  Clusters clusters_, before_;
  std::vector<Index> up_;
  std::vector<double> length_;  ///< of the edge to `up_`; 0 for roots
  std::vector<double> near_;
  SpanningTree tree_;         ///< as it was when it was last brought up to date: with the partition, or for the largest gap
  std::vector<Index> dirty_;  ///< arms whose distances have changed since then
  bool too_dirty_ = false;    ///< more arms than `dirty_` may hold have: the tree is made from scratch next time
};

}  // namespace linkarms
