// Minimum spanning trees: Prim's algorithm, repair after a few arms have moved, and the cut into clusters.
//
// Edges are ordered by length and then by the indices of their ends, so there is just one minimum spanning
// tree, however it is found. Ties inside the tree do not matter; a tie at the cut leaves the partition
// undefined: it is then ambiguous.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "linkage/distances.hpp"
#include "linkage/task.hpp"
#include "math/matrix.hpp"

namespace linkarms {

/// Whether the edge (i, j) comes before the edge (k, m) of the same length: the order that breaks every tie
/// between edges.
[[nodiscard]] inline bool precedes(Index i, Index j, Index k, Index m) {
  const Index first = std::min(i, j), other = std::min(k, m);
  return first < other || (first == other && std::max(i, j) < std::max(k, m));
}

/// Prim's algorithm on the nodes 0, 1, ..., n - 1 from node 0, for minimum and for maximum trees: `edge(i, j)` is the edge
/// from i, which has joined the tree last, to j, which has not; `first(e, f)` is whether e goes before f. `join(j, e)` is told
/// each node that joins, and its edge.
template <class EdgeOf, class First, class Join>
void grow_tree(Index n, EdgeOf edge, First first, Join join) {
  std::vector<Index> rest;  // by index: rows of distances are read from left to right
  std::vector<decltype(edge(0, 0))> best(static_cast<std::size_t>(std::max(n, 0)));
  for (Index j = 1; j < n; ++j) {
    rest.push_back(j);
    best[j] = edge(0, j);
  }
  while (!rest.empty()) {
    auto next = rest.begin();
    for (auto i = rest.begin() + 1; i != rest.end(); ++i) {
      if (first(best[*i], best[*next])) next = i;
    }
    const Index last = *next;
    rest.erase(next);
    join(last, best[last]);
    for (const Index j : rest) {
      const auto found = edge(last, j);
      if (first(found, best[j])) best[j] = found;
    }
  }
}

/// A spanning tree hung from a root. A parent comes before its children in `order`; the root has parent -1
/// and length 0.
struct SpanningTree {
  std::vector<Index> order, parent;
  std::vector<double> length;
};

/// Prim's algorithm from arm 0; of edges of the same length the one with the smaller indices.
[[nodiscard]] SpanningTree minimum_spanning_tree(const Distances& dist);

/// Bring a minimum spanning tree up to date after the distances of the arms in `dirty` have changed.
/// Distances between other arms must be as they were. The tree becomes the one that Prim's algorithm finds,
/// though its root may be another.
void update_spanning_tree(const Distances& dist, std::span<const Index> dirty, SpanningTree& tree);

/// What remains of a tree without some of its edges: the K - 1 longest ones, or all from a length on.
struct Cut {
  std::vector<Index> labels;  ///< 0..K-1 in order of first appearance
  std::vector<Index> up;      ///< parents, -1 where the edge is cut
  double kept = -1.0;         ///< longest edge kept; -1 where there is none
  double removed = 0.0;       ///< shortest edge removed; infinite where there is none
  bool ambiguous = false;     ///< the cut goes through equal edges (relatively closer than `tie`)
  Index n_clusters = 0;
};
/// Edges at the cut whose lengths differ by less than this, relatively, are equal but for rounding.
inline constexpr double tie = 1e-12;
[[nodiscard]] Cut cut_tree(const SpanningTree& tree, Index n_clusters);
/// What remains of a tree without its edges of length `distance` and more: of a minimum spanning tree, the
/// components of "closer than that". Ambiguous: some edge is as long, relatively closer than `tie`.
[[nodiscard]] Cut cut_tree_at(const SpanningTree& tree, double distance);
/// The number of clusters, 2 to M - 1, of the cut with the largest gap: the shortest edge removed less the longest kept,
/// which are successive heights of the dendrogram. Of equal gaps the one with the fewest clusters. M of at least 3.
[[nodiscard]] Index largest_gap(const SpanningTree& tree);
/// Whichever of these a task asks for.
[[nodiscard]] Cut cut_tree(const SpanningTree& tree, const Task& task);

}  // namespace linkarms
