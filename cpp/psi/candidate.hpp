// A candidate for psi: one cluster against one inter pair; and the order that decides between equal ones.
#pragma once

#include <algorithm>

#include "math/constants.hpp"
#include "math/matrix.hpp"
#include "pair/witness.hpp"

namespace linkarms::psi {

/// Two arms of one cluster, u < v. Of edges that cost the same the first counts as the more expensive, so
/// every bottleneck has one edge.
struct Edge {
  Index u = -1, v = -1;

  [[nodiscard]] static Edge between(Index x, Index y) { return {std::min(x, y), std::max(x, y)}; }
  [[nodiscard]] bool precedes(const Edge& other) const { return u < other.u || (u == other.u && v < other.v); }
  [[nodiscard]] bool has(Index m) const { return m == u || m == v; }
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// The cost of an edge against an inter pair, or the bottleneck of a cluster and the edge where it is
/// attained.
struct EdgeCost {
  double value = inf;
  Edge edge;

  /// Whether this edge is the more expensive of the two.
  [[nodiscard]] bool exceeds(const EdgeCost& other) const {
    return value > other.value || (value == other.value && edge.precedes(other.edge));
  }
};

/// V_k(a,b), a < b, with its edge. No candidate: k is negative.
struct Candidate {
  double value = inf;
  Index k = -1, a = -1, b = -1;
  Edge edge;

  [[nodiscard]] bool exists() const { return k >= 0; }
  /// Whether it is the candidate of cluster k and the pair (x, y), in either order.
  [[nodiscard]] bool is(Index cluster, Index x, Index y) const {
    return k == cluster && a == std::min(x, y) && b == std::max(x, y);
  }
  [[nodiscard]] Witness witness() const { return {edge.u, edge.v, a, b}; }

  /// Become V_k(x,y) if that is smaller, or as small and first by (a, b, k).
  void take_smaller(const EdgeCost& found, Index cluster, Index x, Index y) {
    if (!(found.value <= value)) return;
    const Index first = std::min(x, y), second = std::max(x, y);
    if (found.value == value && exists()) {
      if (first != a ? first > a : second != b ? second > b : cluster >= k) return;
    }
    *this = {found.value, cluster, first, second, found.edge};
  }
};

}  // namespace linkarms::psi
