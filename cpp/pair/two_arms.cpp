#include "pair/two_arms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <stdexcept>

#include "pair/dominating_two_arms.hpp"
#include "pair/linear.hpp"
#include "pair/quadratic_two_arms.hpp"

namespace linkarms {

void IsotropicTwoArms::solve(const Weighted& at, const Witness& w, Matrix& lam) const {
  const double gap = limits_.gap(w, at.dist);
  if (gap <= 0.0) return;
  const auto [a, b] = TwoArms(w);
  const double length = at.dist(a, b), g = (w.is_merge() ? -gap : gap) / (at.spread[a] + at.spread[b]);
  for (Index i = 0; i < lam.cols(); ++i) {
    // equal arms come apart in any direction: the first one
    const double e = length > 0.0 ? (at.theta(a, i) - at.theta(b, i)) / length : (i == 0 ? 1.0 : 0.0);
    lam(a, i) += at.spread[a] * g * e;
    lam(b, i) -= at.spread[b] * g * e;
  }
}

namespace {

/// What all solvers have in common.
class TwoArmProblem : public PairProblem {
 public:
  explicit TwoArmProblem(const Task& task) : limits_(task) {}
  [[nodiscard]] double spread(Index, View, double, double) const override { return 0.0; }
  [[nodiscard]] bool has_fixed_spread() const override { return true; }

 protected:
  /// What is asked of the two arms of a pair: their distance, and on which side of it they have to be.
  [[nodiscard]] double limit(const Witness& w) const { return w.is_merge() ? limits_.merge : limits_.split; }
  [[nodiscard]] static Apart side(const Witness& w) { return w.is_merge() ? Apart::at_most : Apart::at_least; }

 private:
  Limits limits_;
};

/// Arms with one parameter each. The constraint is linear once the sign of the difference is chosen: a merge keeps
/// the one that it has, a split may have either.
class ScalarTwoArms final : public TwoArmProblem {
 public:
  ScalarTwoArms(const Model& model, const Task& task) : TwoArmProblem(task), model_(&model) {}

  double cost(const Weighted& at, const Witness& w, double level) override {
    double first = 0.0, second = 0.0;
    return both_signs(at, w, level, first, second);
  }
  void solve(const Weighted& at, const Witness& w, Matrix& lam) override {
    const auto [a, b] = TwoArms(w);
    double first = lam(a, 0), second = lam(b, 0);
    both_signs(at, w, inf, first, second);
    lam(a, 0) = first;
    lam(b, 0) = second;
  }

 private:
  double both_signs(const Weighted& at, const Witness& w, double level, double& first, double& second) const {
    const auto [a, b] = TwoArms(w);
    const double x = at.theta(a, 0), y = at.theta(b, 0), sign = x >= y ? 1.0 : -1.0;
    const bool merges = w.is_merge();
    if (merges ? std::abs(x - y) <= limit(w) : std::abs(x - y) >= limit(w)) return 0.0;
    double best = inf;
    for (const double s : {sign, -sign}) {
      // s (l_a - l_b) <= merge, or >= split
      const double kappa = merges ? -s : s;
      std::array<Number, 3> numbers{Number{.theta = x, .weight = at.weight[a], .kappa = kappa, .kind = &model_->scalar(a)},
                                    Number{.theta = y, .weight = at.weight[b], .kappa = -kappa, .kind = &model_->scalar(b)},
                                    Number{.theta = limit(w), .kappa = merges ? 1.0 : -1.0, .kind = Fixed{}}};
      for (Number& number : numbers) number.lam = number.theta;
      const double value = linear_cost(numbers, std::min(level, best));
      if (value < best) {
        best = value;
        first = numbers[0].lam;
        second = numbers[1].lam;
      }
      if (merges) break;
    }
    return best;
  }

  const Model* model_;
};

/// Gaussian arms with full covariances.
class CovarianceTwoArms final : public TwoArmProblem {
 public:
  CovarianceTwoArms(const Model& model, const Task& task) : TwoArmProblem(task), pair_(model.n_features()) {
    for (Index m = 0; m < model.n_arms(); ++m) covariance_.push_back(covariance_of(model.arm(m)));
  }

  double cost(const Weighted& at, const Witness& w, double) override { return run(at, w); }
  void solve(const Weighted& at, const Witness& w, Matrix& lam) override {
    run(at, w);
    const auto [a, b] = TwoArms(w);
    for (Index i = 0; i < lam.cols(); ++i) {
      lam(a, i) += pair_.shift()(0, i);
      lam(b, i) += pair_.shift()(1, i);
    }
  }

 private:
  double run(const Weighted& at, const Witness& w) {
    const auto [a, b] = TwoArms(w);
    const auto arm = [&](Index m) { return QuadraticArm{at.theta.row(m), &covariance_[m], at.weight[m]}; };
    return pair_.solve(arm(a), arm(b), side(w), limit(w));
  }

  std::vector<Matrix> covariance_;
  QuadraticTwoArms pair_;
};

/// Vectors of other families: a lower bound.
class VectorTwoArms final : public TwoArmProblem {
 public:
  VectorTwoArms(const Model& model, const Task& task) : TwoArmProblem(task), model_(&model), pair_(model) {}

  double cost(const Weighted& at, const Witness& w, double level) override { return run(at, w, level).lower; }
  void solve(const Weighted& at, const Witness& w, Matrix& lam) override {
    const Bounds found = run(at, w, inf);
    const Matrix& goal = found.lower >= found.upper * (1.0 - 1e-6) ? pair_.point() : pair_.aim();
    const auto [a, b] = TwoArms(w);
    std::ranges::copy(goal.row(0), lam.row(a).begin());
    std::ranges::copy(goal.row(1), lam.row(b).begin());
  }

 private:
  Bounds run(const Weighted& at, const Witness& w, double level) {
    const auto [a, b] = TwoArms(w);
    const auto arm = [&](Index m) { return MovingArms::One{&model_->arm(m), at.theta.row(m), at.weight[m]}; };
    return pair_.solve(arm(a), arm(b), side(w), limit(w), level);
  }

  const Model* model_;
  DominatingTwoArms pair_;
};

}  // namespace

std::unique_ptr<PairProblem> make_two_arm_problem(const Model& model, const Task& task) {
  switch (model.kind()) {
    case Kind::scalar:
      return std::make_unique<ScalarTwoArms>(model, task);
    case Kind::covariance:
      return std::make_unique<CovarianceTwoArms>(model, task);
    case Kind::vector:
      return std::make_unique<VectorTwoArms>(model, task);
    case Kind::isotropic:
    case Kind::unknown_variance:
      break;
  }
  throw std::logic_error("isotropic arms have closed forms; use IsotropicTwoArms");
}

}  // namespace linkarms
