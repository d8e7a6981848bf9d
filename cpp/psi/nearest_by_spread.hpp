// The nearest foreign arms of each arm by classes of spreads, and which edges they may cost little against.
//
// A pair of length q and spread s may cost as little as c against an edge of length p and spread r only if q
// - p <= sqrt(2 c (r + s)). So of all pairs (a, b) of an arm a the shortest for each spread of b suffice;
// spreads that differ by little are one class.
#pragma once

#include <span>
#include <vector>

#include "linkage/clusters.hpp"
#include "math/matrix.hpp"
#include "psi/clustered_arms.hpp"
#include "psi/spreads.hpp"

namespace linkarms::psi {

/// Invariant once made: no foreign arm of class c is nearer to arm a than `bounds(c)[a]`. An arm that moves
/// away leaves its bounds behind: they are too low, and found again (`refresh`) where that matters.
class NearestBySpread {
 public:
  NearestBySpread(Index n_arms, Index n_classes);

  [[nodiscard]] bool made() const { return made_; }
  void forget() { made_ = false; }
  /// Classes and bounds of all arms.
  void make(const ClusteredArms& now, const Spreads& spreads);
  /// Take in that arm m has moved and has another spread.
  void move(const ClusteredArms& now, const Spreads& spreads, Index m);
  /// Take in pairs of arms that are no longer together.
  void regroup(const ClusteredArms& now, const Regrouping& change);
  /// Find the largest spread of each class; make all again where the spreads have left the classes behind.
  void fit(const ClusteredArms& now, const Spreads& spreads);
  /// Find the bounds of arm a again, unless nothing has changed since they were.
  void refresh(const ClusteredArms& now, Index a);

  [[nodiscard]] Index n_classes() const { return near_.rows(); }
  [[nodiscard]] Index class_of(Index m) const { return class_[m]; }
  /// The largest spread of a class, negative where it has no arms; and of all arms.
  [[nodiscard]] double top(Index c) const { return top_[c]; }
  [[nodiscard]] double widest() const { return widest_; }
  [[nodiscard]] double bound(Index c, Index a) const { return near_(c, a); }

  /// Whether a pair of arm a may cost as little as the level against an edge of length p (with slack) and
  /// spread r.
  [[nodiscard]] bool row_crosses(const Spreads& spreads, Index a, double p, double r, double twice) const;
  /// The first foreign arm b >= `from` of arm a such that the pair (a, b) may; the number of arms where there is none.
  [[nodiscard]] static Index next_crossing(const ClusteredArms& now, const Spreads& spreads, Index a, Index from, double p,
                                           double r, double twice);
  /// Whether a pair that shares no arm with the edge (z, w) may cost as little as the level against it.
  [[nodiscard]] bool is_crossed(const ClusteredArms& now, const Spreads& spreads, Index z, Index w, double twice);

  [[nodiscard]] std::size_t bytes() const {
    return near_.bytes() + class_.size() * (sizeof(Index) + sizeof(long long) + sizeof(double));
  }

 private:
  [[nodiscard]] Index find_class(double spread) const;
  void lower(const ClusteredArms& now, Index m);
  [[nodiscard]] bool block_crosses(const ClusteredArms& now, const Spreads& spreads, Index first, double p, double r,
                                   double twice) const;

  Matrix near_;  ///< classes x arms
  std::vector<Index> class_;
  std::vector<long long> found_at_;  ///< of each arm: `changes_` when its bounds were found
  long long changes_ = 0;            ///< of distances, classes or clusters
  std::vector<double> top_;
  std::vector<double> nearest_;              ///< scratch: one bound per class
  std::vector<double> kept_;                 ///< scratch: bounds of the arms of a cluster
  double widest_ = 0.0, widest_made_ = 0.0;  ///< largest spread now, and where the classes begin
  bool made_ = false;
};

}  // namespace linkarms::psi
