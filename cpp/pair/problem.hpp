// The pair problem: one intra pair against one inter pair (section 2.1 of math.md), for every kind of model.
//
//   cost(u,v; a,b) = min sum_m w_m KL(theta_m, lambda_m)   subject to  |lambda_u - lambda_v| >= |lambda_a - lambda_b|
//
// Four kinds of model have four solvers. `IsotropicPairs` is inline and is a template argument of the search;
// the others take long enough that a virtual call does not matter.
#pragma once

#include <memory>
#include <vector>

#include "family/model.hpp"
#include "linkage/distances.hpp"
#include "linkage/task.hpp"
#include "math/matrix.hpp"
#include "pair/isotropic.hpp"
#include "pair/witness.hpp"

namespace linkarms {

/// Where the arms are and what their samples weigh. `weight` has no zeros; `spread[m]` is the variance of arm
/// m over its weight, or what `PairProblem::spread` says where the arm is not Gaussian. Only entries of the
/// arms of a witness are read, and only isotropic arms and costs up to a finite level need `dist` and
/// `spread`.
struct Weighted {
  const Matrix& theta;
  const Distances& dist;
  View weight, spread;
};

/// The pair problem of a model that is not isotropic.
class PairProblem {
 public:
  virtual ~PairProblem() = default;

  /// The cost, or if it is above `level` any value above that it is sure to reach. A value up to `level` does
  /// not depend on `level`. The witness is oriented.
  [[nodiscard]] virtual double cost(const Weighted& at, const Witness& w, double level) = 0;
  /// The same for a statistic that only asks whether `level` is reached: a lower bound of the cost, or any
  /// that reaches `level`. A value below `level` may depend on it within the solver's tolerance.
  [[nodiscard]] virtual double bound(const Weighted& at, const Witness& w, double level) { return cost(at, w, level); }
  /// Move the rows of `lam` (elsewhere a copy of theta) to the minimiser of the cost.
  virtual void solve(const Weighted& at, const Witness& w, Matrix& lam) = 0;
  /// i_m such that w KL(theta, x) >= |x - theta|^2 / (2 i_m) wherever w KL(theta, x) <= level. A negative
  /// level asks for a rough figure, from the curvature at theta.
  [[nodiscard]] virtual double spread(Index m, View theta, double weight, double level) const = 0;
  /// Whether the spreads are the same at every level.
  [[nodiscard]] virtual bool has_fixed_spread() const = 0;
  /// Whether the spreads give a quadratic below the KL at every level, not only at the one they were asked
  /// for.
  [[nodiscard]] virtual bool has_quadratic() const { return true; }

 protected:
  PairProblem() = default;
  PairProblem(const PairProblem&) = default;
  PairProblem& operator=(const PairProblem&) = default;
};

/// The solver of a model and a task, of which only the distance and the tolerance are read: two arms where there is a
/// distance (pair/two_arms.hpp), with a tolerance see pair/tolerant.hpp. Isotropic arms (and those of unknown variance, which
/// are isotropic to psi) have one only with a tolerance and K clusters. One per thread.
[[nodiscard]] std::unique_ptr<PairProblem> make_pair_problem(const Model& model, const Task& task = {});
[[nodiscard]] inline std::unique_ptr<PairProblem> make_pair_problem(const Model& model, double tolerance) {
  return make_pair_problem(model, Task{.tolerance = tolerance});
}

/// The same as a value: a copy has scratch memory of its own.
class GeneralPairs {
 public:
  explicit GeneralPairs(const Model& model, const Task& task = {})
      : model_(&model), task_(task), problem_(make_pair_problem(model, task)) {}
  GeneralPairs(const Model& model, double tolerance) : GeneralPairs(model, Task{.tolerance = tolerance}) {}
  GeneralPairs(const GeneralPairs& other) : GeneralPairs(*other.model_, other.task_) {}
  GeneralPairs& operator=(const GeneralPairs&) = delete;
  /// Whether the Gaussian formulas at the spreads are the costs themselves.
  static constexpr bool has_closed_form = false;

  [[nodiscard]] double cost(const Weighted& at, const Witness& w, double level) const { return problem_->cost(at, w, level); }
  void solve(const Weighted& at, const Witness& w, Matrix& lam) const { problem_->solve(at, w, lam); }
  [[nodiscard]] double spread(Index m, View theta, double weight, double level) const {
    return problem_->spread(m, theta, weight, level);
  }
  [[nodiscard]] bool has_fixed_spread() const { return problem_->has_fixed_spread(); }
  [[nodiscard]] bool has_quadratic() const { return problem_->has_quadratic(); }

 private:
  const Model* model_;
  Task task_;
  std::unique_ptr<PairProblem> problem_;
};

/// Gaussian arms with one variance each: the same functions, inline, in closed form.
class IsotropicPairs {
 public:
  explicit IsotropicPairs(const Model& model);
  static constexpr bool has_closed_form = true;

  [[nodiscard]] double cost(const Weighted& at, const Witness& w, double) const { return isotropic_cost(at.dist, at.spread, w); }
  [[nodiscard]] double bound(const Weighted& at, const Witness& w, double level) const { return cost(at, w, level); }
  void solve(const Weighted& at, const Witness& w, Matrix& lam) const {
    isotropic_solution(at.theta, at.dist, at.spread, w, lam);
  }
  [[nodiscard]] double spread(Index m, View, double weight, double) const {
    return variance_[static_cast<std::size_t>(m)] / weight;
  }
  [[nodiscard]] static constexpr bool has_fixed_spread() { return true; }
  [[nodiscard]] static constexpr bool has_quadratic() { return true; }

 private:
  std::vector<double> variance_;
};

}  // namespace linkarms
