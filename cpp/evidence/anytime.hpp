// The statistic of the anytime rule (section 5 of math.md): the bottleneck over the evidence against each
// pair of pairs.
//
//   min over clusters k and inter pairs (a,b) of the smallest edge of a maximum spanning tree of D_k under
//   E(u,v; a,b)
//
// A run seldom needs the whole of it: one candidate below the level forbids a stop, and the same one goes on
// doing so for many samples.
#pragma once

#include <memory>
#include <vector>

#include "evidence/union.hpp"
#include "family/samples.hpp"
#include "linkage/partition.hpp"
#include "pair/witness.hpp"
#include "psi/search.hpp"

namespace linkarms {

/// All that the evidence is about, as it is now. `lam` is psi's alternative and `witness` its pair of pairs.
struct Situation {
  const Samples& samples;
  const Distances& dist;
  const Partition& partition;
  const Matrix& lam;
  Witness witness;
};

/// The anytime rule's evidence for one run. What it keeps besides `scale` is a cache: without it the answers
/// are the same.
class AnytimeEvidence {
 public:
  virtual ~AnytimeEvidence() = default;

  /// What the union bound has to count, and what the threshold has to pay for the grid: log J, or nothing
  /// where the evidence is an average over it.
  [[nodiscard]] virtual EvidenceUnit unit() const = 0;
  [[nodiscard]] virtual double grid_price() const = 0;

  /// Whether the candidate that was last seen to forbid a stop still does at `level`. It may say no where it would; psi's
  /// answer in `now` need not be that of the samples.
  [[nodiscard]] virtual bool is_still_blocked(const Situation& now, double level) = 0;
  /// Whether some candidate is below `level`, and so forbids a stop; the first that does becomes the blocker.
  [[nodiscard]] virtual bool is_blocked(const Situation& now, double level) = 0;
  /// The statistic for reports, at most that which decides (see evidence/bottleneck.hpp): it may be below a level at which
  /// nothing is blocked. The blocker becomes the pair of pairs where it was found.
  [[nodiscard]] virtual double statistic(const Situation& now) = 0;
  /// The evidence against one pair of pairs, or any value of at least `level` that it is sure to reach; and
  /// whether it is below `level`.
  [[nodiscard]] virtual double against(const Situation& now, const Witness& w, double level) = 0;
  [[nodiscard]] virtual bool is_below(const Situation& now, const Witness& w, double level) = 0;
  /// The pair of pairs that was last seen to forbid a stop.
  [[nodiscard]] virtual Witness blocker() const = 0;
  /// The index of the c by which arms are chosen; `rescale` takes the one that gives the most evidence
  /// against psi's witness.
  [[nodiscard]] virtual Index scale() const = 0;
  virtual void set_scale(Index scale) = 0;
  virtual void rescale(const Situation& now) = 0;
  /// Arm m was sampled: what fails for this sample in a user's function must fail now.
  virtual void sampled(const Situation& now, Index m) = 0;
  /// The state has been set from outside.
  virtual void forget() = 0;
  [[nodiscard]] virtual std::unique_ptr<AnytimeEvidence> clone() const = 0;
};

/// `version` 1 weighs arms of unknown variance by universal inference, 2 by mixtures centred at the tested
/// variance; 1 has isotropic evidence for Gaussian arms of one variance each, 2 aligned evidence; others are
/// the same. `grid` holds the values of c; prices are divided by `discount`, which is 1 unless the rule was
/// weakened on purpose. Throws std::invalid_argument where there is no evidence for the task: a distance
/// threshold and a tolerance need version 2.
[[nodiscard]] std::unique_ptr<AnytimeEvidence> make_anytime_evidence(const Model& model, const Task& task,
                                                                     const std::vector<double>& grid, double discount,
                                                                     int version);

}  // namespace linkarms
