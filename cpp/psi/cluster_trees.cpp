#include "psi/cluster_trees.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "psi/bounds.hpp"

namespace linkarms::psi {
namespace {

/// The root of x where `above` holds an arm nearer to the root of each arm; paths are halved on the way.
Index find_root(std::vector<Index>& above, Index x) {
  while (above[x] != x) x = above[x] = above[above[x]];
  return x;
}

}  // namespace

ClusterTrees::ClusterTrees(Index n_arms) {
  const auto n = static_cast<std::size_t>(n_arms);
  parent_.assign(n, -1);
  length_.assign(n, 0.0);
  alternative_.resize(n);
  for (auto* v : {&order_, &position_, &end_, &child_, &sibling_, &spare_}) v->assign(n, 0);
}

/// Hang the tree of x from y by an edge between the two; y negative: make x a root. Lengths go with their
/// edges.
void ClusterTrees::attach_tree(const ClusteredArms& now, Index x, Index y) {
  double length = y >= 0 ? now.dist(x, y) : 0.0;
  while (x >= 0) {
    const Index next = parent_[x];
    std::swap(length_[x], length);
    parent_[x] = y;
    y = x;
    x = next;
  }
}

void ClusterTrees::join_by_linkage(const ClusteredArms& now) {
  std::iota(spare_.begin(), spare_.end(), 0);
  const auto join = [this](Index x, Index y) {
    const Index one = find_root(spare_, x), other = find_root(spare_, y);
    spare_[one] = other;
    return one != other;
  };
  for (Index m = 0; m < now.size(); ++m) {
    if (parent_[m] >= 0) join(m, parent_[m]);
  }
  for (Index m = 0; m < now.size(); ++m) {
    if (now.up[m] >= 0 && join(m, now.up[m])) attach_tree(now, m, now.up[m]);
  }
}

void ClusterTrees::fit(const ClusteredArms& now) {
  for (Index m = 0; m < now.size(); ++m) {
    if (parent_[m] >= 0 && !now.together(m, parent_[m])) parent_[m] = -1;
  }
  join_by_linkage(now);
  large_ = false;
  start_.assign(1, 0);
  for (Index k = 0; k < now.clusters.n_clusters(); ++k) {
    const Index size = now.clusters.size(k);
    start_.push_back(start_.back() + size);
    large_ = large_ || size > 2;
    set_order(now, k);
  }
  measure(now);
  fits_ = true;
}

void ClusterTrees::measure(const ClusteredArms& now, Index k) {
  for (const Index x : arms(k)) length_[x] = parent_[x] >= 0 ? now.dist(x, parent_[x]) : 0.0;
}

void ClusterTrees::measure(const ClusteredArms& now) {
  for (Index k = 0; k < now.clusters.n_clusters(); ++k) measure(now, k);
  for (Alternative& edge : alternative_) edge.length = -1.0;
}

void ClusterTrees::move(const ClusteredArms& now, Index m) {
  const View row = now.dist.row(m);
  if (parent_[m] >= 0) length_[m] = row[parent_[m]];
  for (const Index x : below(m)) {
    if (parent_[x] == m) length_[x] = row[x];
  }
  for (Alternative& edge : alternative_) {
    if (edge.inner == m || edge.outer == m) edge.length = -1.0;
  }
}

void ClusterTrees::shorten(const ClusteredArms& now) {
  const double shortest = range_of(now.nearest).least;
  std::vector<bool> changed;
  for (Index m = 0; m < now.size(); ++m) {
    const Index above = parent_[m];
    if (above >= 0 && length_[m] >= shortest && now.up[m] != above && now.up[above] != m) {
      changed.resize(static_cast<std::size_t>(now.clusters.n_clusters()));
      changed[now.clusters.label(m)] = true;
      parent_[m] = -1;
    }
  }
  if (changed.empty()) return;
  join_by_linkage(now);
  for (Index k = 0; k < now.clusters.n_clusters(); ++k) {
    if (changed[k]) set_order(now, k);
  }
}

void ClusterTrees::replace(const ClusteredArms& now, Index k, Index x, Index z, Index w) {
  parent_[x] = -1;
  attach_tree(now, z, w);
  set_order(now, k);
}

std::vector<Index> ClusterTrees::parents(const ClusteredArms& now, Index k) const {
  std::vector<Index> found;
  for (const Index x : now.clusters.members(k)) found.push_back(parent_[x]);
  return found;
}

void ClusterTrees::restore(const ClusteredArms& now, Index k, std::span<const Index> parents) {
  auto next = parents.begin();
  for (const Index x : now.clusters.members(k)) parent_[x] = *next++;
  set_order(now, k);
  measure(now, k);
}

auto ClusterTrees::alternative(const ClusteredArms& now, Index x) -> const Alternative& {
  Alternative& edge = alternative_[x];
  if (edge.length < 0.0) edge.length = now.dist(edge.inner, edge.outer);
  return edge;
}

/// Fill `child_` and `sibling_` of a cluster; its root.
Index ClusterTrees::list_children(const ClusteredArms& now, Index k) {
  const auto members = now.clusters.members(k);
  for (const Index x : members) child_[x] = -1;
  Index root = -1;
  for (auto x = members.rbegin(); x != members.rend(); ++x) {
    const Index up = parent_[*x];
    sibling_[*x] = up >= 0 ? std::exchange(child_[up], *x) : -1;
    if (up < 0) root = *x;
  }
  return root;
}

/// After a change of the tree of k: a root with one child, the order, and alternatives where there are none
/// now.
void ClusterTrees::set_order(const ClusteredArms& now, Index k) {
  Index root = list_children(now, k);
  if (child_[root] >= 0 && sibling_[child_[root]] >= 0) {
    while (child_[root] >= 0) root = child_[root];
    attach_tree(now, root, -1);
    list_children(now, k);
  }
  Index next = start_[k];
  for (Index x = root; x >= 0;) {
    position_[x] = next;
    order_[next++] = x;
    if (child_[x] >= 0) {
      x = child_[x];
      continue;
    }
    while (x >= 0 && sibling_[x] < 0) {
      end_[x] = next;
      x = parent_[x];
    }
    if (x >= 0) {
      end_[x] = next;
      x = sibling_[x];
    }
  }
  for (const Index x : arms(k)) {
    if (!has_alternative(x)) continue;
    const auto [z, w, length] = alternative_[x];
    const bool valid =
        z >= 0 && now.clusters.label(z) == k && now.clusters.label(w) == k && is_below(z, x) && !is_below(w, parent_[x]);
    if (!valid) set_alternative(x, x, parent_[parent_[x]]);
  }
}

std::size_t ClusterTrees::bytes() const {
  return parent_.size() * (7 * sizeof(Index) + sizeof(double) + sizeof(Alternative)) + start_.size() * sizeof(Index);
}

}  // namespace linkarms::psi
