// What a run keeps from sample to sample.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "evidence/anytime.hpp"
#include "family/samples.hpp"
#include "linkage/partition.hpp"
#include "run/atboc.hpp"
#include "run/nearest_alternative.hpp"
#include "run/rules.hpp"
#include "run/threshold.hpp"

namespace linkarms {

/// All that a dump holds of a run: the rest is a pure function of it.
struct Told {
  std::vector<std::int64_t> counts, pending;
  Matrix means;                             ///< of the sufficient statistics (M, d)
  std::vector<Moments> moments;             ///< of arms of unknown variance; empty for others
  std::vector<std::vector<Knot>> knots;     ///< of the samples of bounded arms that bet; empty for others
  std::vector<double> weights, weight_sum;  ///< EBC's w(t), and the sum of all w(s)
  Index scale = 0;                          ///< the anytime rule's: see AnytimeEvidence::scale
};

/// Everything that changes from sample to sample: a copy of it is a saved run. The arrays of numbers keep
/// their addresses when it is assigned, so views of them stay valid.
struct RunState {
  RunState(const Model& model, const Task& task, const SamplingRule& sampling, const StoppingRule& stopping, Matrix box);

  Samples samples;
  std::vector<std::int64_t> pending, labels;
  Distances dist;
  std::optional<Distances> stretched;  ///< with a tolerance and K clusters: what searches and evidence see
  Partition partition;
  NearestAlternative counted, free;  ///< psi at the weights of the samples; at any others
  std::vector<double> w, w_sum;      ///< EBC's
  std::vector<double> penalty;       ///< of each arm, in the threshold
  double base = 0.0;                 ///< of the threshold
  double weighed_with = -1.0;        ///< the c of `counted`'s weights; -1: none
  bool behind = false;               ///< `counted` has weights of the samples, and is not yet psi at them
  std::optional<Index> moved;        ///< where it is behind: the only arm that has changed since, if there is just one
  std::int64_t free_told = -1;       ///< samples told when `free` was asked for pending pulls; -1: it was asked
                                     ///< for something else since
  std::optional<double> statistic;   ///< the anytime rule's, where it has been computed
  Witness least_certain;             ///< where it was found
  std::optional<AtbocTracker> atboc;
  Cloned<AnytimeEvidence> anytime;
  std::optional<AnytimeBase> anytime_base;
};

}  // namespace linkarms
