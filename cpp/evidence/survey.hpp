// Which candidates may be below a level, from lengths alone: independent of the kind of evidence.
//
// A candidate is a cluster D_k and an inter pair (a, b). Any spanning tree of D_k whose edges all have
// evidence of at least L against (a, b) shows that the candidate does. By `SpreadBounds` an edge of length p
// has that if
//   |q| >= p + sqrt(2 max(L + P_e + P_a + P_b, least) (S_e + s_a + s_b)),
// so the longest such requirement over the edges of a tree is a length from which on pairs are clear. It is
// found for classes of arms with similar spreads; pairs that are shorter are looked at one by one. No cost is
// negative, so an edge whose prices are no more than -L needs nothing else. A large cluster mostly rests on a star: an arm of
// the pair, the hub, joined to each of the others by spokes, which have three prices to pay instead of four.
#pragma once

#include <span>
#include <vector>

#include "evidence/pairs.hpp"

namespace linkarms {

struct Candidate {
  Index a, b, k;
  double margin;  ///< how much longer the pair would have to be

  /// The order in which they are looked at.
  [[nodiscard]] bool lacks_more(const Candidate& other) const {
    return margin != other.margin ? margin > other.margin : precedes(other);
  }
  /// The order that decides between candidates of equal evidence.
  [[nodiscard]] bool precedes(const Candidate& other) const {
    return a != other.a ? a < other.a : b != other.b ? b < other.b : k < other.k;
  }
};

class Survey {
 public:
  /// Make trees and classes for a level. They serve for it and for every lower one.
  void make(const Situation& now, std::vector<SpreadBounds> bounds, double level);

  /// Candidates that may be below the level, or the first so many of them.
  [[nodiscard]] std::vector<Candidate> candidates(const Situation& now, std::size_t most) const;
  /// A level that every pair of pairs reaches: the prices of four arms are all that evidence can lose.
  [[nodiscard]] double least_level() const;

  /// The parts of cluster k that are sure to hold together at `level`, which is not above that of `make`: the
  /// number of parts, and that of each arm in the order of the cluster. An arm of the pair that is in the
  /// cluster is of part 0.
  Index split(const Situation& now, Index k, Index a, Index b, double level, std::vector<Index>& part) const;

  /// What the evidence of a pair of pairs is sure to be by its lengths, or `level`, which is not above that of `make`,
  /// where that is less.
  [[nodiscard]] double lower(const Situation& now, const Witness& w, double level) const;

 private:
  /// A tree edge to an arm that comes before it in the tree. Places are those in the cluster.
  struct TreeEdge {
    Index place, parent;  ///< -1: the root
    Index u, v;
    double length;
  };

  void make_trees(const Situation& now);
  void make_classes(const Situation& now);
  void make_table(const Situation& now);
  void make_stars(const Situation& now);
  [[nodiscard]] bool is_clear(const TreeEdge& edge, double q, Index a, Index b, double level) const;
  /// Whether arm v is sure to be joined to `near`, of its cluster, against (near, far), by the prices of arms or of classes; and
  /// by the lengths as well.
  [[nodiscard]] static bool is_free_spoke(const std::vector<SpreadBounds>& pair, Index near, Index far,
                                          const std::vector<SpreadBounds>& arms, Index v, double level);
  [[nodiscard]] bool is_spoke(const Situation& now, Index hub, Index far, Index v, double level) const;
  [[nodiscard]] double needed(Index k, Index near, Index far, bool own) const;
  [[nodiscard]] std::span<const TreeEdge> tree(Index k) const {
    return std::span(edges_).subspan(first_[k], first_[k + 1] - first_[k]);
  }

  double level_ = 0.0;
  std::vector<SpreadBounds> bounds_;
  std::vector<TreeEdge> edges_;       ///< of all clusters; parents come first
  std::vector<std::size_t> first_;    ///< where those of each cluster begin
  std::vector<Index> class_;          ///< of each arm, by its spread
  std::vector<SpreadBounds> widest_;  ///< for each c, the largest spread and price of each class
  Index n_classes_ = 0;
  /// (K, own, C, C): from which length on pairs of two classes are clear of a cluster, that of the first arm
  /// where `own`; and the largest.
  std::vector<double> table_, top_;
  /// (M, C): from which length on pairs of an arm with one of a class are clear of its cluster by a star.
  std::vector<double> star_;
};

}  // namespace linkarms
