// Minimum spanning trees: Prim's algorithm, repair after a few arms have moved, and the cut into clusters.
#pragma once

#include <span>
#include <vector>

#include "linkage/distances.hpp"
#include "math/matrix.hpp"

namespace linkarms {

/// A spanning tree hung from a root. A parent comes before its children in `order`; the root has parent -1 and length 0.
struct SpanningTree {
  std::vector<Index> order, parent;
  std::vector<double> length;
};

/// Prim's algorithm from arm 0; of edges of the same length the one with the smaller indices, so there is just one answer.
[[nodiscard]] SpanningTree minimum_spanning_tree(const Distances& dist);

/// Bring a minimum spanning tree up to date after the distances of the arms in `dirty` have changed.
void respan(const Distances& dist, std::span<const Index> dirty, SpanningTree& tree);

/// What remains of a tree without its K - 1 longest edges.
struct Cut {
  std::vector<Index> labels;  ///< 0..K-1 in order of first appearance
  std::vector<Index> up;      ///< parents, -1 where the edge is cut
  double kept = -1.0;         ///< longest edge kept; -1 where there is none
  double removed = 0.0;       ///< shortest edge removed; infinite where there is none
  bool ambiguous = false;     ///< the cut goes through equal edges (relatively closer than `tie`)
};
/// Edges at the cut whose lengths differ by less than this, relatively, are equal but for rounding.
inline constexpr double tie = 1e-12;
[[nodiscard]] Cut cut_tree(const SpanningTree& tree, Index n_clusters);

}  // namespace linkarms
