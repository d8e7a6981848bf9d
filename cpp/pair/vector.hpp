// The pair problem for any other family in d >= 2 (products, categories, mixtures of kinds): a safe lower
// bound.
#pragma once

#include <optional>

#include "pair/angles.hpp"
#include "pair/dominating.hpp"
#include "pair/problem.hpp"

namespace linkarms {

/// In two dimensions the costs are certified to 3e-8, relatively; elsewhere they are lower bounds by
/// dominating Gaussians.
class VectorPairs final : public PairProblem {
 public:
  /// The model must outlive it.
  explicit VectorPairs(const Model& model);

  [[nodiscard]] double cost(const Weighted& at, const Witness& w, double level) override;
  [[nodiscard]] double bound(const Weighted& at, const Witness& w, double level) override;
  void solve(const Weighted& at, const Witness& w, Matrix& lam) override;
  [[nodiscard]] double spread(Index m, View theta, double weight, double level) const override;
  [[nodiscard]] bool has_fixed_spread() const override { return false; }

 private:
  /// `best_` becomes the point of the upper bound.
  Bounds bounds(const MovingArms& arms, double level);

  const Model* model_;
  DominatingPair dominating_;
  std::optional<AngleSearch> angles_;  ///< where arms move in two dimensions
  Matrix best_;
};

}  // namespace linkarms
