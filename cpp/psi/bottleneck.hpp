// One candidate: the bottleneck of a cluster against an inter pair, with the help of a spanning tree
// (section 2.2 of math.md).
//
// V_k(a,b) is the smallest edge of a maximum spanning tree of cluster k with edge weights cost(u,v; a,b). Any
// spanning tree whose edges all cost more than a level shows that V_k(a,b) is above it. If some cost less,
// the cluster falls into parts, and only the edges between the parts have to be looked at: usually one arm
// against the rest.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "psi/cluster_trees.hpp"
#include "psi/costs.hpp"

namespace linkarms::psi {

/// Finds bottlenecks. It keeps scratch memory only.
template <class Problem>
class Bottleneck {
 public:
  explicit Bottleneck(Index n_arms) : part_(static_cast<std::size_t>(n_arms)), arms_(static_cast<std::size_t>(n_arms)) {}

  /// V_k(a,b) and its edge if it is at most `level`; else any value above that. Nothing where the cluster
  /// falls into more than `most` parts: it is then far below the level, and `by_exchange` ends before it has
  /// joined them all.
  std::optional<EdgeCost> below(const Costs<Problem>& costs, const ClusterTrees& trees, Index k, Index a, Index b, double level,
                                Index most);

  /// The same, for a level that may be far above V_k(a,b): the cheapest edge of the tree is exchanged for the
  /// most expensive one across the same cut, until it is that edge itself. If `keep`, the tree stays as it
  /// has become, but for edges with an arm of the pair and those that follow.
  EdgeCost by_exchange(const Costs<Problem>& costs, ClusterTrees& trees, Index k, Index a, Index b, double level, bool keep);

  [[nodiscard]] std::size_t bytes() const { return (part_.size() + arms_.size()) * sizeof(Index); }

 private:
  /// A part of a cluster, and the most expensive edge so far from it to the parts that are joined.
  struct Part {
    std::span<Index> arms;
    EdgeCost link{-1.0, {}};
    bool joined = false;
  };

  [[nodiscard]] bool is_above(const Costs<Problem>& costs, const ClusterTrees& trees, Index x, Index a, Index b,
                              double level) const;
  void split(const ClusterTrees& trees, Index k, Index parts);
  void cross(const Costs<Problem>& costs, Index x, const Part& joined, double narrow, Index a, Index b, double level,
             EdgeCost& link) const;
  EdgeCost join(const Costs<Problem>& costs, Index a, Index b, double level);

  std::vector<Index> part_, arms_;
  std::vector<Part> parts_;
};

/// Whether the spreads show that the edge of x to its parent costs more than `level` against (a, b).
template <class Problem>
bool Bottleneck<Problem>::is_above(const Costs<Problem>& costs, const ClusterTrees& trees, Index x, Index a, Index b,
                                   double level) const {
  const Spreads& spread = costs.spreads;
  if (level > spread.level()) return false;
  const Index up = trees.parent(x);
  double total = spread[x] + spread[up] + spread[a] + spread[b];
  if (x == a || x == b) {
    total += 2.0 * spread[x];
  } else if (up == a || up == b) {
    total += 2.0 * spread[up];
  }
  return !crosses(costs.now.dist(a, b), 0.0, trees.length(x) + spread.slack(), total, spread.twice(level));
}

/// List the arms of cluster k by their parts.
template <class Problem>
void Bottleneck<Problem>::split(const ClusterTrees& trees, Index k, Index parts) {
  parts_.assign(static_cast<std::size_t>(parts), {});
  auto next = arms_.begin();
  for (Index g = 0; g < parts; ++g) {
    const auto first = next;
    for (const Index x : trees.arms(k)) {
      if (part_[x] == g) *next++ = x;
    }
    parts_[g].arms = {first, next};
  }
}

/// Compare the most expensive edge between two parts so far with those of arm x to the arms of the other
/// part, of least spread `narrow`.
template <class Problem>
void Bottleneck<Problem>::cross(const Costs<Problem>& costs, Index x, const Part& joined, double narrow, Index a, Index b,
                                double level, EdgeCost& link) const {
  const View row = costs.now.dist.row(x);
  const double q = costs.now.dist(a, b);
  const double total = costs.spreads[x] + narrow + costs.spreads[a] + costs.spreads[b];
  // how long an edge without an arm of the pair may be to cost as much as the most expensive one, rounding
  // aside
  const auto reach = [&] {
    if (!Problem::has_closed_form || x == a || x == b || !(link.value > 0.0)) return inf;
    return q * (1.0 + 1e-14) - std::sqrt(2.0 * link.value * total) * (1.0 - 1e-12);
  };
  double near = reach();
  const Index count = static_cast<Index>(joined.arms.size());
  const Index* arms = joined.arms.data();
  for (Index first = 0; first < count; first += block) {
    const Index end = std::min(first + block, count);
    if (first > 0 && end - first == block) {  // (an arm of the pair comes first)
      int hits = 0;
      for (Index j = first; j < first + block; ++j) hits += row[arms[j]] <= near;
      if (hits == 0) continue;
    }
    for (Index j = first; j < end; ++j) {
      const Index y = arms[j];
      if (row[y] > near && y != a && y != b) continue;
      const double cost = costs(x, y, a, b, level);
      const EdgeCost found{cost <= level ? cost : inf, Edge::between(x, y)};
      if (!found.exceeds(link)) continue;
      link = found;
      if (link.value == inf) return;
      near = reach();
    }
  }
}

/// Smallest edge of a maximum spanning tree of the parts, by Prim's algorithm; infinite above `level`. Edges
/// above the level are all the same; of other equal ones the first counts as the more expensive, so there is
/// one answer, whatever the parts were.
template <class Problem>
EdgeCost Bottleneck<Problem>::join(const Costs<Problem>& costs, Index a, Index b, double level) {
  Part* last = &*std::ranges::max_element(parts_, {}, [](const Part& part) { return part.arms.size(); });
  EdgeCost smallest;
  for (std::size_t turn = 1; turn < parts_.size(); ++turn) {
    last->joined = true;
    double narrow = inf;
    for (Index& m : last->arms) {
      narrow = std::min(narrow, costs.spreads[m]);
      if (m == a || m == b) std::swap(m, last->arms.front());
    }
    Part* next = nullptr;
    for (Part& part : parts_) {
      if (part.joined) continue;
      for (const Index x : part.arms) {
        if (part.link.value == inf) break;
        cross(costs, x, *last, narrow, a, b, level, part.link);
      }
      if (!next || part.link.exceeds(next->link)) next = &part;
    }
    last = next;
    if (turn == 1 || smallest.exceeds(last->link)) smallest = last->link;
  }
  return smallest;
}

template <class Problem>
std::optional<EdgeCost> Bottleneck<Problem>::below(const Costs<Problem>& costs, const ClusterTrees& trees, Index k, Index a,
                                                   Index b, double level, Index most) {
  const auto arms = trees.arms(k);
  if (arms.size() == 2) return EdgeCost{costs(arms[0], arms[1], a, b, level), Edge::between(arms[0], arms[1])};
  Index parts = 0;
  EdgeCost cut;
  for (const Index x : arms) {
    const Index up = trees.parent(x);
    bool holds = up >= 0;
    if (holds && !is_above(costs, trees, x, a, b, level)) {
      const double cost = costs(x, up, a, b, level);
      holds = !(cost <= level);
      if (!holds) cut = {cost, Edge::between(x, up)};
    }
    part_[x] = holds ? part_[up] : parts++;
  }
  if (parts == 1) return EdgeCost{};
  if (parts > most) return std::nullopt;
  split(trees, k, parts);
  if (parts == 2) parts_[0].link = parts_[1].link = cut;
  return join(costs, a, b, level);
}

template <class Problem>
EdgeCost Bottleneck<Problem>::by_exchange(const Costs<Problem>& costs, ClusterTrees& trees, Index k, Index a, Index b,
                                          double level, bool keep) {
  /// How many edges are exchanged at most; then all that are left are joined at once.
  constexpr int most_swaps = 20;
  const Index size = costs.now.clusters.size(k);
  if (size == 2) return *below(costs, trees, k, a, b, level, size);
  double lowest = level;
  std::vector<Index> saved;
  EdgeCost found;
  for (int swaps = 0;; ++swaps) {
    if (swaps == most_swaps) {
      found = *below(costs, trees, k, a, b, lowest, size);
      break;
    }
    // of equal edges the last by index counts as the cheapest, as in `join`
    EdgeCost least;
    Index x = -1;
    double second = inf;
    for (const Index m : trees.arms(k)) {
      if (trees.parent(m) < 0 || (x >= 0 && is_above(costs, trees, m, a, b, std::min(second, level)))) continue;
      const EdgeCost edge{costs(m, trees.parent(m), a, b, level), Edge::between(m, trees.parent(m))};
      if (x < 0 || least.exceeds(edge)) {
        second = least.value;
        least = edge;
        x = m;
      } else {
        second = std::min(second, edge.value);
      }
    }
    if (!(least.value <= level)) {
      found = {};
      break;
    }
    for (const Index m : trees.arms(k)) part_[m] = trees.is_below(m, x) ? 1 : 0;
    split(trees, k, 2);
    parts_[0].link = parts_[1].link = least;
    found = join(costs, a, b, level);
    // where all other edges of the tree cost more, the most expensive of the cut is the cheapest of the next
    // tree, and the answer
    const bool done = second > std::min(found.value, level) * ties;
    const bool shares = found.edge.has(a) || found.edge.has(b) || least.edge.has(a) || least.edge.has(b);
    if (found.edge == least.edge || (done && (!saved.empty() || shares || !keep))) break;
    lowest = std::min(lowest, found.value * ties);
    if (saved.empty() && (shares || !keep)) saved = trees.parents(costs.now, k);  // such edges are good for this pair alone
    const bool u_below = part_[found.edge.u] == 1;
    trees.replace(costs.now, k, x, u_below ? found.edge.u : found.edge.v, u_below ? found.edge.v : found.edge.u);
    if (done) break;
  }
  if (!saved.empty()) trees.restore(costs.now, k, saved);
  return found;
}

}  // namespace linkarms::psi
