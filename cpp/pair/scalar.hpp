// The pair problem for arms with one parameter each: a linear constraint per sign of the intra pair.
#pragma once

#include <array>
#include <span>

#include "pair/number.hpp"
#include "pair/problem.hpp"

namespace linkarms {

/// The arms and coefficients of  sign (l_u - l_v) - sigma (l_a - l_b) >= 0,  in the order u, v, b, a; without
/// a where it is u.
struct SignedConstraint {
  std::array<Index, 4> arm;
  std::array<double, 4> kappa;
  std::size_t count;

  /// The witness is oriented; the signs are 1 or -1.
  SignedConstraint(const Witness& w, double sign, double sigma)
      : arm{w.u, w.v, w.b, w.a}, kappa{w.shared() ? sign - sigma : sign, -sign, sigma, -sigma}, count(w.shared() ? 3 : 4) {}
};

/// How much a constraint lacks at the start: a number that stays.
[[nodiscard]] inline Number fixed_lack(double lack) {
  return {.theta = lack, .kappa = -1.0, .kind = Fixed{}, .lam = lack};
}

/// Arms with one parameter each, of any family. The model must outlive it.
class ScalarPairs final : public PairProblem {
 public:
  /// With a tolerance the intra pair has to be longer by that; lengths between clusters then come stretched by it.
  explicit ScalarPairs(const Model& model, double tolerance = 0.0) : model_(&model), tolerance_(tolerance) {}

  [[nodiscard]] double cost(const Weighted& at, const Witness& w, double level) override;
  void solve(const Weighted& at, const Witness& w, Matrix& lam) override;
  [[nodiscard]] double spread(Index m, View theta, double weight, double level) const override;
  [[nodiscard]] bool has_fixed_spread() const override { return false; }
  /// Of a user's own family only its reach at the level is known.
  [[nodiscard]] bool has_quadratic() const override { return !model_->has_user_family(); }

 private:
  const Model* model_;
  double tolerance_;
};

}  // namespace linkarms
