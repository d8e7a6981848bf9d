// The pair problem with a tolerance for vectors of any family: a safe lower bound (section 8 of math.md).
#pragma once

#include <vector>

#include "pair/vector.hpp"

namespace linkarms {

/// The larger of two lower bounds: the cost without a tolerance, and that of Gaussian arms with one variance each that
/// dominate the arms. As in pair/dominating.hpp these are chosen for an upper bound of the cost, which their own minimiser
/// lowers.
class TolerantVectorPairs final : public PairProblem {
 public:
  TolerantVectorPairs(const Model& model, double eps)
      : model_(&model), plain_(model), eps_(eps), spread_(static_cast<std::size_t>(model.n_arms())) {}

  [[nodiscard]] double cost(const Weighted& at, const Witness& w, double level) override;
  void solve(const Weighted& at, const Witness& w, Matrix& lam) override;
  [[nodiscard]] double spread(Index m, View theta, double weight, double level) const override {
    return plain_.spread(m, theta, weight, level);
  }
  [[nodiscard]] bool has_fixed_spread() const override { return false; }

 private:
  /// The bound by Gaussian arms; moves the rows of `lam` to their minimiser, brought into the domain.
  double bound(const Weighted& at, const Witness& w, Matrix& lam);
  [[nodiscard]] double first_upper(const MovingArms& arms) const;

  const Model* model_;
  VectorPairs plain_;
  double eps_;
  std::vector<double> spread_;
};

}  // namespace linkarms
