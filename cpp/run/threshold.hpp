// What thresholds have besides log(1/delta): what each arm adds to that of the paper's rule and of ATBOC's and
// LUCBBOC's, and what the union and the grid add to that of the anytime rule.
#pragma once

#include "evidence/anytime.hpp"
#include "family/model.hpp"
#include "math/matrix.hpp"
#include "run/rules.hpp"

namespace linkarms {

/// W = log(1 - 2 Q(x)) for x > 0, Q the Gaussian upper tail.
[[nodiscard]] double log_inner_mass(double x);

/// Arm m's part of the paper's threshold beta (section 3 of math.md), everything but log(1/delta), after n >=
/// 1 samples:
///   (d/2) log(I N) - d W + log |Theta| - (d/2) log(2 pi) + N sum_i max(KL(theta, theta -+ eps e_i))
/// with I the largest eigenvalue of the Fisher information at theta and W = log(1 - 2 Q(eps sqrt(N I))). The
/// paper has the largest eigenvalue of the observed information under the root; where that is random
/// (Bernoulli, Poisson, means) its expectation N I is taken instead, where it is not (Gaussian, rates) the
/// two are the same.
[[nodiscard]] double paper_penalty(const Model& model, Index m, View theta, double n, const PaperStop& rule);

/// An arm's part of 2 [log(1/delta) + (d/2) sum_m log(N_m + 1)].
[[nodiscard]] double boc_penalty(double n, Index n_features);

/// The anytime rule's threshold without log(1/delta), by the partition that is about to be named:
/// log(events / share of delta) + the price of the grid.
class AnytimeBase {
 public:
  AnytimeBase(const AnytimeStop& rule, const AnytimeEvidence& evidence, Index n_arms, const Task& task);

  [[nodiscard]] double operator()(const Clusters& named) const { return whole(events_.base(named)); }
  /// By the size of its largest cluster.
  [[nodiscard]] double operator()(Index largest_cluster) const { return whole(events_.base(largest_cluster)); }

 private:
  [[nodiscard]] double whole(double events) const { return (events + grid_price_) / discount_; }

  UnionBound events_;
  double grid_price_, discount_;
};

}  // namespace linkarms
