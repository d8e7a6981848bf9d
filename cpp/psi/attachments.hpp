// Attachments: why an arm alone, {u}, is not a part of its cluster that costs little.
//
// Against a pair (u, b) the part {u} costs max over v of cost(u,v; u,b), v the other arms of the cluster of
// u. Where clusters are well separated that is the bottleneck for nearly every arm, and hundreds of
// candidates are nearly tied. So one such v is kept for every pair, its attachment, with a lower bound of its
// cost. It stays one until u, v or b is sampled.
//
// Two or three arms are enough for all pairs of an arm, mostly, and some tens in clusters of hundreds: they
// are its slots, and an attachment is the number of one. So a sample of v concerns the few arms that have it
// in a slot. The bounds have bounds themselves, one for every block of arms b, so a search looks at few of
// them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linkage/clusters.hpp"
#include "math/matrix.hpp"
#include "psi/candidate.hpp"
#include "psi/clustered_arms.hpp"
#include "psi/spreads.hpp"

namespace linkarms::psi {

/// Invariant once made, for arms u and b of different clusters, u not alone: `arm(u, b)` is another arm of
/// the cluster of u, `bound(u, b)` is at most cost(u, arm(u, b); u, b), and neither `least(u)` nor the bound
/// of its block is above it.
class Attachments {
 public:
  /// An arm has at most `most_slots` slots, and never more than 64. With a closed form the Gaussian formula at the spreads is
  /// the cost itself. Memory is taken by the first `make`.
  Attachments(Index n_arms, Index most_slots, bool closed_form);

  [[nodiscard]] bool made() const { return made_; }
  void forget() { made_ = false; }
  /// Attach all arms, to what they were attached to where that is still in their cluster, else to a neighbour
  /// in the tree `parent`.
  void make(const ClusteredArms& now, const Spreads& spreads, std::span<const Index> parent);
  /// Weigh the attachments of, to and against arm m again, which has moved and has another spread.
  void move(const ClusteredArms& now, const Spreads& spreads, Index m);
  /// Take in a new partition. Bounds of arms that are together now stay until they are met.
  void regroup(const ClusteredArms& now, const Spreads& spreads, const Regrouping& change);
  /// Costs up to this level are worth finding, where there is a closed form; others are bounded.
  void expect(double level) { about_ = level; }

  [[nodiscard]] Index arm(Index u, Index b) const { return slots_(slot_(u, b), u).arm; }
  [[nodiscard]] double bound(Index u, Index b) const { return bound_(u, b); }
  [[nodiscard]] double block_bound(Index u, Index b) const { return floor_(u, b / block); }
  /// A lower bound of all bounds of u; infinite for an arm alone.
  [[nodiscard]] double least(Index u) const { return least_[u]; }
  /// Another arm of the cluster of u, the last one that `suggest` named; negative for an arm alone.
  [[nodiscard]] Index partner(Index u) const { return partner_[u]; }
  void suggest(Index u, Index v) { partner_[u] = v; }
  /// Attach u to v against b. False where all slots are in use; the attachment is then what it was.
  bool attach(const ClusteredArms& now, Index u, Index b, Index v);
  /// Keep a lower bound of the cost of the attachment. Only from within `scan`, which brings the bounds of
  /// bounds up to date.
  void set_bound(Index u, Index b, double bound) { bound_(u, b) = bound; }

  /// Call visit(b) for every foreign arm b whose bound is at most limit(), which may fall on the way.
  template <class Limit, class Visit>
  void scan(const ClusteredArms& now, Index u, Limit limit, Visit visit) {
    const MutView row = bound_.row(u), floors = floor_.row(u);
    double least = inf;
    for (Index i = 0; i < floor_.cols(); ++i) {
      if (floors[i] <= limit()) {
        double floor = inf;
        for (Index b = i * block; b < std::min((i + 1) * block, now.size()); ++b) {
          if (row[b] <= limit()) {
            if (now.together(u, b)) {
              row[b] = inf;
            } else {
              visit(b);
            }
          }
          floor = std::min(floor, row[b]);
        }
        floors[i] = floor;
      }
      least = std::min(least, floors[i]);
    }
    least_[u] = least;
  }

  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Slot {
    Index arm = -1;
    double length = 0.0;  ///< its distance from the arm that is attached
  };

  void fill_partners(std::span<const Index> parent);
  void attach_row(const ClusteredArms& now, const Spreads& spreads, Index u);
  [[nodiscard]] double cost(const ClusteredArms& now, const Spreads& spreads, Index u, Index b, bool row_of_b) const;
  double weigh(const ClusteredArms& now, const Spreads& spreads, Index u, Index b, bool row_of_b);
  void weigh_row(const ClusteredArms& now, const Spreads& spreads, Index u);
  void bound_foreign(const ClusteredArms& now, const Spreads& spreads, Index u);
  template <class Bound>
  void bound_all(const ClusteredArms& now, const Spreads& spreads, Index u, const Bound& bound);
  void lower(const ClusteredArms& now, const Spreads& spreads, Index u, Index b, bool row_of_b);
  void set_slot(const ClusteredArms& now, const Spreads& spreads, Index u, Index slot, Index v);
  [[nodiscard]] Index unused_slot(const ClusteredArms& now, Index u) const;

  bool closed_form_;
  Index most_slots_;
  MatrixOf<std::uint8_t> slot_;
  Matrix bound_, floor_;
  std::vector<double> least_;
  std::vector<Index> partner_;
  MatrixOf<Slot> slots_;                ///< slots x arms
  std::vector<Index> in_use_;           ///< how many of them each arm has
  std::vector<double> lengths_, wide_;  ///< scratch: what attachments of one arm add
  double about_ = -1.0;
  bool made_ = false;
};

}  // namespace linkarms::psi
