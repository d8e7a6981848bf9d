// The union bound of the anytime rule: how many events cover a wrong answer (sections 5, 7 and 8 of math.md).
//
// An event is a piece (u,v; a,b), an ordered pair of two pairs of arms: "the truth has |theta_u - theta_v| >=
// |theta_a - theta_b|, and yet the evidence against that has reached the level". Under the truth let e_1 >= e_2
// >= ... be the L = M - K kept edges (those of the minimum spanning tree inside clusters), and g_1 <= g_2 <= ...
// the X separated pairs (arms of two clusters). For every wrong partition there are one of its clusters, a split
// of that and a pair (a,b) that it separates such that all pieces (u,v; a,b) with (u,v) cut by the split are of
// the family
// - pairs: {(g_j; e_1)} + {(e_1; e_i), i >= 2}, if the partition has no cluster of more than two arms
// - third: {(g_j; e_1)} + {(f; e_i), i >= 2}: f any pair with one arm in C, the smaller side of e_1 in its cluster;
//   it contains the family of pairs
// - flat:  {(g_j; e_i)}: any separated pair, any kept edge
// - kept:  {(f; e)}: any other pair, any kept edge; this one also with a tolerance
// - tree:  {(f; e)}: any other pair, any edge of the minimum spanning tree; for every K at once
// - sets:  all sets of three or four arms; for evidence that belongs to a set instead of a piece
// Evidence that belongs to a set of arms has one event for all pieces of the same arms. Sizes depend on how large the
// true clusters are. The weights of events must add up to at most 1 for all of them.
#pragma once

#include <span>
#include <vector>

#include "linkage/partition.hpp"
#include "math/matrix.hpp"

namespace linkarms {

/// What is promised of the partition that a run names.
enum class Promise {
  clusters,   ///< K clusters, K fixed beforehand
  every_cut,  ///< whatever K is chosen, also after seeing the data
  threshold,  ///< the components of the graph that joins arms closer than a distance
};

/// What a rule answers, as far as the union is concerned.
struct Question {
  Promise promise = Promise::clusters;
  bool tolerant = false;  ///< right up to a tolerance above 0
};

/// What evidence belongs to: a set of arms (isotropic priors), or a pair of pairs (aligned priors).
enum class EvidenceUnit { set, piece };

/// Sets of three or four arms; at least 1.
[[nodiscard]] double count_sets(Index n_arms);

/// The events for one kind of truth: those that partitions into clusters of at most two arms need, and how many more
/// other partitions need.
struct EventCounts {
  double pairs, rest;
};
/// One entry per number of arms that the cluster of e_1 may have; a single one, without `pairs`, where the question makes
/// no difference between partitions. 1 < K < M for `Promise::clusters`; K is not read for others.
[[nodiscard]] std::vector<EventCounts> count_events(const Question& question, Index n_arms, Index n_clusters, EvidenceUnit unit);

/// What a threshold has besides log(1/delta): log(1/w), with the weight w that an event has where it is needed for the
/// partition that is about to be named. An event that several partitions need counts with its largest weight, and these
/// add up to at most 1.
class UnionBound {
 public:
  UnionBound(const Question& question, Index n_arms, Index n_clusters, EvidenceUnit unit);
  /// n events of the same weight.
  explicit UnionBound(double n);
  /// Events that partitions into pairs need have `ratio` >= 1 times the weight of the rest.
  UnionBound(std::span<const EventCounts> counts, double ratio);

  /// For a partition that is about to be named, by the size of its largest cluster.
  [[nodiscard]] double base(Index largest_cluster) const { return largest_cluster <= 2 ? pairs_ : any_; }
  [[nodiscard]] double base(const Clusters& named) const;

 private:
  double pairs_, any_;
};

}  // namespace linkarms
