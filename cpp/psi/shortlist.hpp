// Clusters of one and two arms: a list of the candidates that may cost little.
//
// A cluster of two has one edge, so every candidate is one cost. All that cost no more than a level are
// listed; psi is the least of the list as long as it is below that level. A sample of an arm m leaves every
// candidate without m as it was. Those with m are the pairs (m, b) against any edge, and any pair against the
// edge of m: both are ruled out together by the longest and the widest of the others, but for a few.
#pragma once

#include <algorithm>
#include <vector>

#include "math/matrix.hpp"
#include "pair/witness.hpp"
#include "psi/candidate.hpp"
#include "psi/costs.hpp"

namespace linkarms::psi {

/// Invariant where it exists: every candidate that costs no more than `level` is listed, once.
class Shortlist {
 public:
  /// A candidate u < v, a < b, and its cost, or a lower bound of it.
  struct Listed {
    Witness witness;
    double cost;
    bool known;  ///< it is the cost
  };

  Shortlist(Index n_arms, Index most_listed);

  [[nodiscard]] bool exists() const { return exists_; }
  void drop() { exists_ = false; }
  [[nodiscard]] double level() const { return level_; }
  [[nodiscard]] const std::vector<Listed>& entries() const { return listed_; }
  /// Whether all candidates that cost no more than `best` are listed, and not many more.
  [[nodiscard]] bool reaches(double best) const { return best * ties <= level_ && level_ <= 2.0 * best; }

  /// List all candidates that may cost as little as psi, or `wide` times as much; there is no list where they
  /// are too many. `best` holds an upper bound of psi and its candidate; they become psi and its candidate if
  /// there is a list.
  template <class Problem>
  void make(const Costs<Problem>& costs, double wide, Candidate& best) {
    exists_ = false;
    measure_all(costs.now, costs.spreads);
    clear(costs.spreads, wide * best.value);
    offer_guess(costs.now, costs.spreads);
    improve(costs, 0, best);
    clear(costs.spreads, wide * best.value);
    for (Index a = 0; a < costs.now.size(); ++a) {
      const std::size_t first = listed_.size();
      offer_row(costs.now, costs.spreads, a, a + 1);
      if (full_) return;
      if constexpr (Problem::has_closed_form) {  // with a lower level fewer are listed
        improve(costs, first, best);
        set_level(costs.spreads, wide * best.value);
      }
    }
    if constexpr (!Problem::has_closed_form) improve(costs, 0, best);
    exists_ = best.value * ties <= level_;
  }

  /// List the candidates of arm m, which has moved and has another spread, again. There is no list afterwards
  /// if they are too many.
  void move(const ClusteredArms& now, const Spreads& spreads, Index m);

  /// Make the least cost from `first` on that is smaller than `best`, or as small and first, the best.
  template <class Problem>
  void improve(const Costs<Problem>& costs, std::size_t first, Candidate& best);

  [[nodiscard]] std::size_t bytes() const {
    return listed_.capacity() * sizeof(Listed) + partner_.size() * (sizeof(Index) + 3 * sizeof(double));
  }

 private:
  void measure_all(const ClusteredArms& now, const Spreads& spreads);
  void measure(const ClusteredArms& now, const Spreads& spreads, Index u);
  void clear(const Spreads& spreads, double level);
  void set_level(const Spreads& spreads, double level);
  [[nodiscard]] double twice(const Spreads& spreads) const { return spreads.twice(level_); }
  void offer(const ClusteredArms& now, const Spreads& spreads, Index u, Index a, Index b, double total, double twice);
  void offer_guess(const ClusteredArms& now, const Spreads& spreads);
  void offer_pair(const ClusteredArms& now, const Spreads& spreads, Index a, Index b, double twice);
  void offer_row(const ClusteredArms& now, const Spreads& spreads, Index a, Index first);
  void offer_edge(const ClusteredArms& now, const Spreads& spreads, Index m);

  std::size_t most_;
  std::vector<Listed> listed_;
  std::vector<Index> partner_;  ///< the other arm of the cluster of each arm; negative for an arm alone
  std::vector<double> length_,
      spread_;                  ///< of the edge of each arm; no pair is as short as that of an arm alone
  std::vector<double> shared_;  ///< its spread against a pair that shares the arm, without the other arm of the pair
  double longest_ = 0.0, broadest_ = 0.0,
         largest_ = 0.0;  ///< length and spread of edges, spread of arms: at most so much
  double level_ = -1.0;
  bool exists_ = false, full_ = false;
};

template <class Problem>
void Shortlist::improve(const Costs<Problem>& costs, std::size_t first, Candidate& best) {
  /// Costs that are not closed forms are found up to this times the least: psi mostly grows.
  constexpr double ahead = 1.02;
  const auto find = [&](Listed& entry, double level) {
    const auto [u, v, a, b] = entry.witness;
    entry.cost = costs(u, v, a, b, level);
    entry.known = !(entry.cost > level);
  };
  const auto take = [&](const Listed& entry) {
    const auto [u, v, a, b] = entry.witness;
    best.take_smaller({entry.cost, {u, v}}, costs.now.clusters.label(u), a, b);
  };
  for (std::size_t i = first; i < listed_.size(); ++i) {
    if (Problem::has_closed_form && !listed_[i].known) find(listed_[i], inf);
    if (listed_[i].known) take(listed_[i]);
  }
  if constexpr (!Problem::has_closed_form) {
    while (true) {
      Listed* next = nullptr;  // the one with the least bound
      for (std::size_t i = first; i < listed_.size(); ++i) {
        Listed& entry = listed_[i];
        if (!entry.known && entry.cost <= std::min(best.value * room, level_) && (!next || entry.cost < next->cost)) {
          next = &entry;
        }
      }
      if (!next) break;
      find(*next, std::min(best.value * ahead, level_));
      if (next->known) take(*next);
    }
  }
}

}  // namespace linkarms::psi
