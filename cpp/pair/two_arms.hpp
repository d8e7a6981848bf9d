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

/// The same for other models, as a value: a copy has scratch memory of its own.
class TwoArmProblem {
 public:
  virtual ~TwoArmProblem() = default;
  /// The cost, or if it is above `level` any value above that it is sure to reach. Infinite where no parameters
  /// satisfy the constraint.
  [[nodiscard]] virtual double cost(const Weighted& at, const Witness& w, double level) = 0;
  /// Move the rows of `lam` (a copy of theta) to the minimiser.
  virtual void solve(const Weighted& at, const Witness& w, Matrix& lam) = 0;

 protected:
  TwoArmProblem() = default;
  TwoArmProblem(const TwoArmProblem&) = default;
  TwoArmProblem& operator=(const TwoArmProblem&) = default;
};

/// Of vectors that are not Gaussian the costs are lower bounds.
[[nodiscard]] std::unique_ptr<TwoArmProblem> make_two_arm_problem(const Model& model, const Task& task);

class GeneralTwoArms {
 public:
  GeneralTwoArms(const Model& model, const Task& task)
      : model_(&model), task_(task), problem_(make_two_arm_problem(model, task)) {}
  GeneralTwoArms(const GeneralTwoArms& other) : GeneralTwoArms(*other.model_, other.task_) {}
  GeneralTwoArms& operator=(const GeneralTwoArms&) = delete;

  [[nodiscard]] double cost(const Weighted& at, const Witness& w, double level) const { return problem_->cost(at, w, level); }
  void solve(const Weighted& at, const Witness& w, Matrix& lam) const { problem_->solve(at, w, lam); }
  /// Not read: these solvers take the weights.
  [[nodiscard]] static double spread(Index, View, double, double) { return 0.0; }
  [[nodiscard]] static constexpr bool has_fixed_spread() { return true; }

 private:
  const Model* model_;
  Task task_;
  std::unique_ptr<TwoArmProblem> problem_;
};

}  // namespace linkarms
