// The pair problem for Gaussian arms with full covariances: an eigenvalue problem and one root (section 2.1
// of math.md).
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "math/matrix.hpp"
#include "pair/problem.hpp"

namespace linkarms {

/// One arm of a quadratic pair problem: it costs  weight (x - theta)' covariance^-1 (x - theta) / 2  to move
/// it to x.
struct QuadraticArm {
  View theta;
  const Matrix* covariance;
  double weight;
};

/// Solves quadratic pair problems in d dimensions, one after the other.
class QuadraticPair {
 public:
  explicit QuadraticPair(Index d) : shift_(4, d) {}

  /// The cost for the arms u, v, a, b; u and a are the same where `shared`. The value is the dual's, never
  /// above the minimum.
  [[nodiscard]] double cost(const std::array<QuadraticArm, 4>& arms, bool shared) { return run(arms, shared, false); }
  /// The same; how far the arms move is then in `shift`.
  double solve(const std::array<QuadraticArm, 4>& arms, bool shared) { return run(arms, shared, true); }
  /// The steps of u, v, a, b to the minimiser of the last `solve`. A shared arm's is in the first row, and
  /// the third is zero.
  [[nodiscard]] const Matrix& shift() const { return shift_; }

 private:
  double run(const std::array<QuadraticArm, 4>& arms, bool shared, bool moves);
  /// The same in D dimensions, without eigenvalues; nothing near the hard case.
  template <std::size_t D, class Blocks>
  std::optional<double> run_small(const std::array<QuadraticArm, 4>& arms, bool shared, bool moves);
  template <std::size_t D>
  std::optional<double> run_small(const std::array<QuadraticArm, 4>& arms, bool shared, bool moves);

  Matrix shift_;
};

/// Gaussian arms, some with a full covariance.
class CovariancePairs final : public PairProblem {
 public:
  explicit CovariancePairs(const Model& model);

  [[nodiscard]] double cost(const Weighted& at, const Witness& w, double level) override;
  void solve(const Weighted& at, const Witness& w, Matrix& lam) override;
  [[nodiscard]] double spread(Index m, View, double weight, double) const override {
    return variance_[static_cast<std::size_t>(m)] / weight;
  }
  [[nodiscard]] bool has_fixed_spread() const override { return true; }

 private:
  [[nodiscard]] std::array<QuadraticArm, 4> arms(const Weighted& at, const Witness& w) const;

  std::vector<Matrix> covariance_;
  std::vector<double> variance_;  ///< largest, in any direction
  QuadraticPair pair_;
};

/// The covariance of a Gaussian arm.
[[nodiscard]] Matrix covariance_of(const Arm& arm);

}  // namespace linkarms
