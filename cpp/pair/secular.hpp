// The Gaussian pair problem in few dimensions: one root by Newton's method, without eigenvalues (section 2.1 of math.md).
//
//   minimise (z - r)' C^-1 (z - r) / 2  subject to  |z_p| >= |z_q|,   r = (p; q),  C = [[A, X], [X', B]]
//
// With J = diag(1, -1) the minimiser is z(mu) = (1 - mu C J)^-1 r for the mu at which |z_p| = |z_q|, and for every mu below
// the pole the dual value -(mu/2) r' J z(mu) is a lower bound. Eliminating z_q leaves a matrix of d rows,
//   S(mu) = 1 - mu A + mu^2 X (1 + mu B)^-1 X',
// which is positive definite exactly below the pole: J - mu C has the blocks 1 - mu A and -(1 + mu B), its eigenvalues fall
// as mu grows, and S is its Schur complement. So a Cholesky factor of S is the proof that the bound is one.
// 1/|z_q| - 1/|z_p| increases with mu, and is linear where A and B are multiples of 1 and X = 0: Newton's method takes one step
// there, and a few elsewhere.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

#include "math/constants.hpp"

namespace linkarms {

template <std::size_t D>
using SmallVector = std::array<double, D>;
template <std::size_t D>
using SmallMatrix = std::array<SmallVector<D>, D>;

/// The Cholesky factor of a small symmetric matrix; nothing here allocates.
template <std::size_t D>
class SmallFactor {
 public:
  /// Of the lower triangle of a; false unless every pivot is above `least`.
  [[nodiscard]] bool make(const SmallMatrix<D>& a, double least) {
    for (std::size_t j = 0; j < D; ++j) {
      for (std::size_t i = j; i < D; ++i) {
        double x = a[i][j];
        for (std::size_t k = 0; k < j; ++k) x -= lower_[i][k] * lower_[j][k];
        if (i > j) {
          lower_[i][j] = x * inverse_[j];
          continue;
        }
        if (!(x > least)) return false;
        inverse_[j] = 1.0 / std::sqrt(x);
      }
    }
    return true;
  }
  /// x becomes L^-1 x, and L'^-1 x.
  void forward(SmallVector<D>& x) const {
    for (std::size_t i = 0; i < D; ++i) {
      for (std::size_t k = 0; k < i; ++k) x[i] -= lower_[i][k] * x[k];
      x[i] *= inverse_[i];
    }
  }
  void backward(SmallVector<D>& x) const {
    for (std::size_t i = D; i-- > 0;) {
      x[i] *= inverse_[i];
      for (std::size_t k = 0; k < i; ++k) x[k] -= lower_[i][k] * x[i];
    }
  }
  void solve(SmallVector<D>& x) const {
    forward(x);
    backward(x);
  }

 private:
  SmallMatrix<D> lower_;    ///< below its diagonal
  SmallVector<D> inverse_;  ///< of its diagonal
};

template <std::size_t D>
[[nodiscard]] double dot(const SmallVector<D>& x, const SmallVector<D>& y) {
  double total = 0.0;
  for (std::size_t i = 0; i < D; ++i) total += x[i] * y[i];
  return total;
}
template <std::size_t D>
[[nodiscard]] SmallVector<D> product(const SmallMatrix<D>& m, const SmallVector<D>& x) {
  SmallVector<D> out;
  for (std::size_t i = 0; i < D; ++i) out[i] = dot(m[i], x);
  return out;
}
template <std::size_t D>
[[nodiscard]] SmallVector<D> product(const SmallVector<D>& diagonal, const SmallVector<D>& x) {
  SmallVector<D> out;
  for (std::size_t i = 0; i < D; ++i) out[i] = diagonal[i] * x[i];
  return out;
}

/// A, B and X of a problem in D dimensions, and (1 - mu C J)^-1. X is symmetric, and counts where an arm is shared.
template <std::size_t D>
class DenseBlocks {
 public:
  static constexpr std::size_t size = D;
  using Vector = SmallVector<D>;
  SmallMatrix<D> a, b, x;
  bool shared = false;

  /// False where mu is not below the pole, or too near it.
  [[nodiscard]] bool factor(double mu) {
    SmallMatrix<D> upper, lower;
    for (std::size_t i = 0; i < D; ++i) {
      for (std::size_t j = 0; j < D; ++j) {
        lower[i][j] = (i == j ? 1.0 : 0.0) + mu * b[i][j];
        upper[i][j] = (i == j ? 1.0 : 0.0) - mu * a[i][j];
      }
    }
    if (!of_q_.make(lower, 0.0)) return false;
    if (shared) {
      SmallMatrix<D> half = x;  // rows: columns of X', by (1 + mu B)^-1/2
      for (Vector& row : half) of_q_.forward(row);
      for (std::size_t i = 0; i < D; ++i) {
        for (std::size_t j = 0; j < D; ++j) upper[i][j] += mu * mu * dot(half[i], half[j]);
      }
    }
    mu_ = mu;
    return of_p_.make(upper, least_pivot);
  }

  /// (1 - mu C J)^-1 (of_p; of_q), for the mu of `factor`.
  void apply(Vector& of_p, Vector& of_q) const {
    of_q_.solve(of_q);
    if (!shared) {
      of_p_.solve(of_p);
      return;
    }
    const Vector to_p = product(x, of_q);
    for (std::size_t i = 0; i < D; ++i) of_p[i] -= mu_ * to_p[i];
    of_p_.solve(of_p);
    Vector to_q = product(x, of_p);
    of_q_.solve(to_q);
    for (std::size_t i = 0; i < D; ++i) of_q[i] += mu_ * to_q[i];
  }

  static constexpr double least_pivot = 1e-7;

 private:
  SmallFactor<D> of_p_, of_q_;  ///< of S, and of 1 + mu B
  double mu_ = 0.0;
};

/// The same where A, B and X are diagonal: a variance per coordinate.
template <std::size_t D>
class DiagonalBlocks {
 public:
  static constexpr std::size_t size = D;
  using Vector = SmallVector<D>;
  Vector a, b, x;
  bool shared = false;

  [[nodiscard]] bool factor(double mu) {
    mu_ = mu;
    for (std::size_t i = 0; i < D; ++i) {
      inverse_q_[i] = 1.0 / (1.0 + mu * b[i]);
      const double s = 1.0 - mu * a[i] + (shared ? mu * mu * x[i] * x[i] * inverse_q_[i] : 0.0);
      if (!(s > DenseBlocks<D>::least_pivot)) return false;
      inverse_s_[i] = 1.0 / s;
    }
    return true;
  }
  void apply(Vector& of_p, Vector& of_q) const {
    for (std::size_t i = 0; i < D; ++i) {
      of_q[i] *= inverse_q_[i];
      of_p[i] = (of_p[i] - (shared ? mu_ * x[i] * of_q[i] : 0.0)) * inverse_s_[i];
      if (shared) of_q[i] += mu_ * x[i] * of_p[i] * inverse_q_[i];
    }
  }

 private:
  Vector inverse_q_{}, inverse_s_{};
  double mu_ = 0.0;
};

/// One pair problem. |p| < |q|.
template <class Blocks>
class SecularPair {
 public:
  using Vector = SmallVector<Blocks::size>;
  Vector p, q;
  Blocks blocks;

  /// The dual value at the root; `mu`, `z_p` and `z_q` are then those of the minimiser. Nothing near the hard case, where p
  /// has no part along the pole's direction.
  [[nodiscard]] std::optional<double> solve() {
    constexpr int most_turns = 40;
    constexpr double settled = 1e-8;  // Newton's next step would be below rounding
    if (!(norm(p) > 1e-9 * norm(q))) return {};
    double low = 0.0, high = inf, next = 0.0;
    bool last = false;
    for (int turn = 0; turn < most_turns; ++turn) {
      if (!blocks.factor(next)) {
        high = next;
        next = 0.5 * (low + high);
        last = false;
        continue;
      }
      mu = next;
      z_p = p;
      z_q = q;
      blocks.apply(z_p, z_q);
      if (last) return std::max(0.5 * mu * (dot(q, z_q) - dot(p, z_p)), 0.0);
      const double of_p = norm(z_p), of_q = norm(z_q), value = 1.0 / of_q - 1.0 / of_p;
      (value < 0.0 ? low : high) = mu;
      Vector step_p = product(blocks.a, z_p), step_q = product(blocks.b, z_q);  // dz/dmu = (1 - mu C J)^-1 C J z
      for (std::size_t i = 0; i < p.size(); ++i) step_q[i] = -step_q[i];
      if (blocks.shared) {
        const Vector from_q = product(blocks.x, z_q), from_p = product(blocks.x, z_p);
        for (std::size_t i = 0; i < p.size(); ++i) {
          step_p[i] -= from_q[i];
          step_q[i] += from_p[i];
        }
      }
      blocks.apply(step_p, step_q);
      const double slope = dot(z_p, step_p) / (of_p * of_p * of_p) - dot(z_q, step_q) / (of_q * of_q * of_q);
      next = mu - value / slope;
      last = std::abs(next - mu) <= settled * mu;
      if (low < next && next < high) continue;
      if (last) {  // what is left is rounding
        next = mu;
        continue;
      }
      next = high < inf ? 0.5 * (low + high) : std::max(2.0 * low, 1e-300);
    }
    return {};
  }

  double mu = 0.0;
  Vector z_p, z_q;

 private:
  [[nodiscard]] static double norm(const Vector& x) { return std::sqrt(dot(x, x)); }
};

}  // namespace linkarms
