// The edges of all trees at once: which inter pairs may cost little against any of them.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "math/matrix.hpp"
#include "psi/cluster_trees.hpp"
#include "psi/nearest_by_spread.hpp"
#include "psi/spreads.hpp"

namespace linkarms::psi {

/// Of the trees' edges only those that are neither shorter nor narrower than another one matter: the front.
/// From it follows how long a pair has to be, by the classes of its arms, to cost more than a level against
/// all of them: the reach.
class EdgeFront {
 public:
  explicit EdgeFront(Index n_classes) : reach_(n_classes, n_classes), longest_(static_cast<std::size_t>(n_classes)) {}

  void make(const ClusterTrees& trees, const NearestBySpread& near, const Spreads& spreads, double twice);

  /// Whether a pair of arm a may be short enough for its classes.
  [[nodiscard]] bool row_reaches(const NearestBySpread& near, Index a, double nearest) const;
  /// By the class of b: how long a pair (a, b) has to be, for an arm a of class c.
  [[nodiscard]] View reach(Index c) const { return reach_.row(c); }
  /// Whether a pair of this length and spread may cost as little as the level against an edge of the front.
  [[nodiscard]] bool is_crossed(double q, double s, double twice) const {
    for (Index i = size_ - 1; i >= 0; --i) {  // the longest first
      if (crosses(q, s, edges_[i].length, edges_[i].spread, twice)) return true;
    }
    return false;
  }

 private:
  /// How finely the spreads of edges are told apart: those of about the same spread count as one, as long as
  /// the longest and as wide as the widest of them. No sorting, no branches.
  static constexpr Index n_steps = 64;
  struct Step {
    double length = -1.0, spread = 0.0;
  };

  std::array<Step, n_steps> edges_;
  Index size_ = 0;
  Matrix reach_;
  std::vector<double> longest_;  ///< of each row of reach
};

}  // namespace linkarms::psi
