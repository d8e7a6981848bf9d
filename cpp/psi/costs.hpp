// What one pair costs against another, for the search; and the pair problem of any model as a value.
#pragma once

#include <memory>

#include "pair/problem.hpp"
#include "psi/candidate.hpp"
#include "psi/clustered_arms.hpp"
#include "psi/spreads.hpp"

namespace linkarms::psi {

/// The pair problem of a model that is not isotropic, or with a tolerance, as a value: a copy has scratch memory of its own.
class GeneralPairs {
 public:
  explicit GeneralPairs(const Model& model, double tolerance = 0.0)
      : model_(&model), tolerance_(tolerance), problem_(make_pair_problem(model, tolerance)) {}
  GeneralPairs(const GeneralPairs& other) : GeneralPairs(*other.model_, other.tolerance_) {}
  GeneralPairs& operator=(const GeneralPairs&) = delete;
  static constexpr bool has_closed_form = false;

  [[nodiscard]] double cost(const Weighted& at, const Witness& w, double level) { return problem_->cost(at, w, level); }
  void solve(const Weighted& at, const Witness& w, Matrix& lam) { problem_->solve(at, w, lam); }
  [[nodiscard]] double spread(Index m, View theta, double weight, double level) const {
    return problem_->spread(m, theta, weight, level);
  }
  [[nodiscard]] bool has_fixed_spread() const { return problem_->has_fixed_spread(); }
  [[nodiscard]] bool has_quadratic() const { return problem_->has_quadratic(); }

 private:
  const Model* model_;
  double tolerance_;
  std::unique_ptr<PairProblem> problem_;
};

/// The costs of one search: all that they depend on, and their number.
template <class Problem>
struct Costs {
  const ClusteredArms& now;
  const Spreads& spreads;
  Problem& problem;
  long long& evaluated;

  [[nodiscard]] Weighted at() const { return {now.theta, now.dist, spreads.weights(), spreads.values()}; }

  /// cost(x,y; a,b), or if that is above `level` a lower bound of it that is, too. It does not depend on the
  /// order of the arms.
  [[nodiscard]] double operator()(Index x, Index y, Index a, Index b, double level) const {
    ++evaluated;
    const Witness w{std::min(x, y), std::max(x, y), std::min(a, b), std::max(a, b)};
    return problem.cost(at(), w.oriented(), level);
  }
  /// cost(u,v; u,b), in the same way.
  [[nodiscard]] double shared(Index u, Index v, Index b, double level) const {
    ++evaluated;
    return problem.cost(at(), {u, v, u, b}, level);
  }
};

}  // namespace linkarms::psi
