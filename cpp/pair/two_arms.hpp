// The pair problem under a distance threshold: two arms that meet, or two that come apart (sections 7.1 and 8 of
// math.md).
//
//   merge(a,b) = min w_a KL(theta_a, lambda_a) + w_b KL(theta_b, lambda_b)   subject to  |lambda_a - lambda_b| <= r - eps
//   split(u,v) = the same                                                    subject to  |lambda_u - lambda_v| >= r + eps
//
// A pair is a `Witness` of which the other pair is missing.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "linkage/task.hpp"
#include "math/constants.hpp"
#include "pair/problem.hpp"

namespace linkarms {

/// How far apart two arms may or must be.
struct Limits {
  double merge, split;

  explicit Limits(const Task& task) : merge(task.merge_at()), split(task.split_at()) {}

  /// By how much the distance of a pair has to change.
  [[nodiscard]] double gap(const Witness& w, const Distances& dist) const {
    return w.is_merge() ? dist(w.a, w.b) - merge : split - dist(w.u, w.v);
  }
};

/// The two arms of a pair, the first one smaller.
struct TwoArms {
  Index first, second;
  explicit TwoArms(const Witness& w) : first(w.is_merge() ? w.a : w.u), second(w.is_merge() ? w.b : w.v) {}
};

/// Gaussian arms with one variance each: gap^2 / (2 (i_a + i_b)), inline.
class IsotropicTwoArms {
 public:
  IsotropicTwoArms(const Model& model, const Task& task) : pairs_(model), limits_(task) {}

  [[nodiscard]] double cost(const Weighted& at, const Witness& w, double) const {
    const double gap = std::max(limits_.gap(w, at.dist), 0.0);
    const auto [a, b] = TwoArms(w);
    return gap * gap / (2.0 * (at.spread[a] + at.spread[b]));
  }
  void solve(const Weighted& at, const Witness& w, Matrix& lam) const;
  [[nodiscard]] double spread(Index m, View theta, double weight, double level) const {
    return pairs_.spread(m, theta, weight, level);
  }
  [[nodiscard]] static constexpr bool has_fixed_spread() { return true; }

 private:
  IsotropicPairs pairs_;
  Limits limits_;
};

/// The solver of other models. Of vectors that are not Gaussian the costs are lower bounds. It takes the weights: spreads are
/// not read.
[[nodiscard]] std::unique_ptr<PairProblem> make_two_arm_problem(const Model& model, const Task& task);

using GeneralTwoArms = GeneralPairs;

}  // namespace linkarms
