// Other edges for the trees: where one no longer rules a pair out, one that does, and rules out all other
// pairs as well.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "math/matrix.hpp"
#include "psi/candidate.hpp"
#include "psi/cluster_trees.hpp"
#include "psi/nearest_by_spread.hpp"
#include "psi/spreads.hpp"

namespace linkarms::psi {

/// Replaces edges of the trees. It remembers where none was found, and does not look again for some searches.
class EdgeReplacer {
 public:
  explicit EdgeReplacer(Index n_arms);

  /// A new search begins: edges for which none was found in the last one may be tried again, when their time
  /// has come.
  void begin();
  /// Replace the edge of x, of cluster k, to its parent, which may cost as little as the level against (a,
  /// b), by one that costs more than the level against every pair with which it shares no arm. False where
  /// none was found.
  bool replace(const ClusteredArms& now, const Spreads& spreads, ClusterTrees& trees, NearestBySpread& near, Index k, Index x,
               Index a, Index b, double twice);
  /// Replace the alternative edge of x, which may cost as little as the level against (u, b), u the parent of
  /// x, by one that does not against any pair of u. False where none was found.
  bool replace_alternative(const ClusteredArms& now, const Spreads& spreads, ClusterTrees& trees, Index k, Index x, Index b,
                           double twice);
  /// How many searches the edge of x is passed over for.
  [[nodiscard]] int skips(Index x) const { return skip_[x]; }

  [[nodiscard]] std::size_t bytes() const { return skip_.size() * (sizeof(int) + 1) + outside_.size() * sizeof(Index); }

 private:
  std::optional<ClusterTrees::Alternative> best_edge(const ClusteredArms& now, const Spreads& spreads, const ClusterTrees& trees,
                                                     Index k, Index x, Index u, Index a, Index b, double twice);

  std::vector<Index> outside_;
  std::vector<int> skip_;
  std::vector<char> stuck_;  ///< none was found in this search
};

}  // namespace linkarms::psi
