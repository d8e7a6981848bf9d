// The Lagrangian of one split at given multipliers: its factor, its minimiser, its value and its derivatives.
#pragma once

#include <vector>

#include "math/matrix.hpp"
#include "math/symmetric.hpp"
#include "psi/split_dual.hpp"

namespace linkarms {

/// D(mu) at one mu. Invariant: factor, lambda and lack belong to the mu of the last `evaluate` that did not
/// return -infinity.
class Lagrangian {
 public:
  explicit Lagrangian(const SplitArms& split);

  /// D(mu) = 1/2 shift' W shift + sum_i mu_i lack_i (near the solution nothing cancels); -infinity where
  /// A(mu) is not positive definite.
  double evaluate(View mu);
  /// lambda(mu).
  [[nodiscard]] const std::vector<double>& lambda() const { return lambda_; }
  /// Half of what the square of each pair lacks: the gradient of D.
  [[nodiscard]] const std::vector<double>& lack() const { return lack_; }
  /// |lambda_a - lambda_b|^2.
  [[nodiscard]] double inter_square() const { return square(split_->a, split_->b); }
  [[nodiscard]] double log_det() const;
  /// A^-1, for `slope` and `curvature` with tau > 0.
  void invert() { inverse_ = inverse_of_factor(low_); }

  /// Gradient of D + tau log det A: lack_i - tau tr(A^-1 Q_i).
  void slope(double tau, MutView out) const;
  /// Minus the Hessian in the multipliers `free`: (Q_i lambda)' A^-1 (Q_j lambda) + tau tr(A^-1 Q_i A^-1
  /// Q_j).
  [[nodiscard]] Matrix curvature(std::span<const Index> free, double tau) const;

 private:
  [[nodiscard]] bool factor(View mu);
  void solve_factored(std::vector<double>& x) const;
  void add_edge(std::vector<double>& x, Index i, Index j, double scale, const std::vector<double>& at) const;
  [[nodiscard]] double square(Index i, Index j) const;
  /// Trace, or sum of squares, of (E_u - E_v)' A^-1 (E_x - E_y).
  [[nodiscard]] double edge_block(Index u, Index v, Index x, Index y, bool squared) const;

  const SplitArms* split_;
  Matrix low_, inverse_;
  std::vector<double> shift_, lambda_, lack_;
};

/// step becomes (hessian's leading block of that size)^-1 step; directions in which rounding leaves no
/// curvature get a little.
void newton_step(const Matrix& hessian, MutView step);

}  // namespace linkarms
