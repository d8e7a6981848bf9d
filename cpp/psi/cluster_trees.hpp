// Spanning trees that rule candidates out: one of each cluster, and what makes it one of the cluster without
// any of its arms.
//
// Where all edges of the tree of a cluster cost more than a level against a pair, so does the cluster. A pair
// with an arm u in the cluster has other costs at the edges of u; for it u is hung from its attachment alone
// (`Attachments`), and what falls apart without u is joined by alternative edges: for each child of u one
// from the arms below it to those that are not below u. The root has one child, so it needs none.
#pragma once

#include <span>
#include <vector>

#include "math/matrix.hpp"
#include "psi/clustered_arms.hpp"

namespace linkarms::psi {

/// Invariant where `fits`: `parent` hangs every cluster from one root, and `arms(k)` lists it so that the
/// arms below any arm follow it. Lengths are those of the distances at the last `fit`, `measure` or `move`.
class ClusterTrees {
 public:
  explicit ClusterTrees(Index n_arms);

  /// Whether the trees are those of the present partition.
  [[nodiscard]] bool fits() const { return fits_; }
  void partition_changed() { fits_ = false; }
  /// Take the edges between clusters out, join what has fallen apart by edges of the linkage tree, and
  /// measure all.
  void fit(const ClusteredArms& now);
  /// Measure all edges again.
  void measure(const ClusteredArms& now);
  /// Measure the edges of arm m again, which has moved.
  void move(const ClusteredArms& now, Index m);
  /// Give edges that are longer than the shortest distance between clusters up for those of the linkage tree,
  /// which are not.
  void shorten(const ClusteredArms& now);

  /// Whether some cluster has more than two arms.
  [[nodiscard]] bool has_large_cluster() const { return large_; }
  [[nodiscard]] Index parent(Index x) const { return parent_[x]; }
  [[nodiscard]] double length(Index x) const { return length_[x]; }
  /// The arms of cluster k, parents first.
  [[nodiscard]] std::span<const Index> arms(Index k) const { return slice(start_[k], start_[k + 1]); }
  /// x and the arms below it.
  [[nodiscard]] std::span<const Index> below(Index x) const { return slice(position_[x], end_[x]); }
  [[nodiscard]] bool is_below(Index y, Index x) const { return position_[x] <= position_[y] && position_[y] < end_[x]; }

  /// Replace the edge of x to its parent by the one between z, below x, and w, of the same cluster and not
  /// below x.
  void replace(const ClusteredArms& now, Index k, Index x, Index z, Index w);
  /// The parents of the arms of cluster k, and back to these.
  [[nodiscard]] std::vector<Index> parents(const ClusteredArms& now, Index k) const;
  void restore(const ClusteredArms& now, Index k, std::span<const Index> parents);

  /// An edge from the arms below x, `inner`, to those that are not below the parent of x, `outer`.
  struct Alternative {
    Index inner = -1, outer = -1;
    double length = -1.0;  ///< negative: not known
  };
  /// Whether x needs one: not the root, nor its only child.
  [[nodiscard]] bool has_alternative(Index x) const { return parent_[x] >= 0 && parent_[parent_[x]] >= 0; }
  /// That edge, measured.
  const Alternative& alternative(const ClusteredArms& now, Index x);
  void set_alternative(Index x, Index inner, Index outer) { alternative_[x] = {inner, outer, -1.0}; }

  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] std::span<const Index> slice(Index first, Index end) const {
    return {order_.data() + first, static_cast<std::size_t>(end - first)};
  }
  void attach_tree(const ClusteredArms& now, Index x, Index y);
  void join_by_linkage(const ClusteredArms& now);
  void measure(const ClusteredArms& now, Index k);
  Index list_children(const ClusteredArms& now, Index k);
  void set_order(const ClusteredArms& now, Index k);

  std::vector<Index> parent_;
  std::vector<double> length_;                 ///< of the edge to the parent; 0 for a root
  std::vector<Index> order_, position_, end_;  ///< below(x) is order_[position_[x]] .. order_[end_[x] - 1]
  std::vector<Index> start_;                   ///< cluster k is order_[start_[k]] .. order_[start_[k + 1] - 1]
  std::vector<Alternative> alternative_;
  std::vector<Index> child_, sibling_, spare_;  ///< scratch
  bool fits_ = false, large_ = false;
};

}  // namespace linkarms::psi
