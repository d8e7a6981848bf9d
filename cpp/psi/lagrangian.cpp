#include "psi/lagrangian.hpp"

#include <algorithm>
#include <cmath>

#include "math/constants.hpp"

namespace linkarms {

Lagrangian::Lagrangian(const SplitArms& split)
    : split_(&split),
      low_(split.n * split.rows, split.n * split.rows),
      inverse_(split.n * split.rows, split.n * split.rows),
      shift_(split.theta.size()),
      lambda_(split.theta),
      lack_(split.u.size()) {}

bool Lagrangian::factor(View mu) {
  const Index e = split_->rows;
  std::ranges::fill(low_.values(), 0.0);
  for (Index i = 0; i < split_->n; ++i)
    for (Index j = 0; j < e; ++j)
      for (Index k = 0; k < e; ++k) low_(i * e + j, i * e + k) = split_->precision[(i * e + j) * e + k];
  const auto add = [&](Index i, Index j, double weight) {
    for (Index r = 0; r < e; ++r) {
      const Index x = i * e + r, y = j * e + r;
      low_(x, x) += weight;
      low_(y, y) += weight;
      low_(x, y) -= weight;
      low_(y, x) -= weight;
    }
  };
  double total = 0.0;
  for (std::size_t i = 0; i < mu.size(); ++i) {
    total += mu[i];
    add(split_->u[i], split_->v[i], -mu[i]);
  }
  add(split_->a, split_->b, total);
  // the pivot of a matrix that is singular but for rounding proves nothing
  return cholesky(low_, 1e-13);
}

void Lagrangian::solve_factored(std::vector<double>& x) const {
  const Index r = split_->cols;
  std::vector<double> column(static_cast<std::size_t>(low_.rows()));
  for (Index c = 0; c < r; ++c) {
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = x[i * r + c];
    solve_lower(low_, column);
    solve_lower_transposed(low_, column);
    for (std::size_t i = 0; i < column.size(); ++i) x[i * r + c] = column[i];
  }
}

void Lagrangian::add_edge(std::vector<double>& x, Index i, Index j, double scale, const std::vector<double>& at) const {
  const Index width = split_->rows * split_->cols;
  for (Index k = 0; k < width; ++k) {
    const double change = scale * (at[i * width + k] - at[j * width + k]);
    x[i * width + k] += change;
    x[j * width + k] -= change;
  }
}

double Lagrangian::square(Index i, Index j) const {
  const Index width = split_->rows * split_->cols;
  double total = 0.0;
  for (Index k = 0; k < width; ++k) {
    const double z = lambda_[i * width + k] - lambda_[j * width + k];
    total += z * z;
  }
  return total;
}

double Lagrangian::evaluate(View mu) {
  if (!factor(mu)) return -inf;
  std::ranges::fill(shift_, 0.0);
  double total = 0.0;
  for (std::size_t i = 0; i < mu.size(); ++i) {
    if (mu[i] > 0.0) {
      add_edge(shift_, split_->u[i], split_->v[i], mu[i], split_->theta);
      total += mu[i];
    }
  }
  add_edge(shift_, split_->a, split_->b, -total, split_->theta);
  solve_factored(shift_);
  for (std::size_t i = 0; i < shift_.size(); ++i) lambda_[i] = split_->theta[i] + shift_[i];
  const Index e = split_->rows, r = split_->cols;
  double value = 0.0;
  for (Index i = 0; i < split_->n; ++i)
    for (Index j = 0; j < e; ++j)
      for (Index k = 0; k < e; ++k)
        for (Index c = 0; c < r; ++c)
          value += 0.5 * shift_[(i * e + j) * r + c] * split_->precision[(i * e + j) * e + k] * shift_[(i * e + k) * r + c];
  const double inter = inter_square();
  for (std::size_t i = 0; i < mu.size(); ++i) {
    lack_[i] = 0.5 * (inter - square(split_->u[i], split_->v[i]));
    value += mu[i] * lack_[i];
  }
  return value;
}

double Lagrangian::log_det() const {
  double total = 0.0;
  for (Index i = 0; i < low_.rows(); ++i) total += 2.0 * std::log(low_(i, i));
  return total;
}

double Lagrangian::edge_block(Index u, Index v, Index x, Index y, bool squared) const {
  const Index e = split_->rows;
  double total = 0.0;
  for (Index j = 0; j < e; ++j) {
    for (Index k = squared ? 0 : j; k < (squared ? e : j + 1); ++k) {
      double z = inverse_(u * e + j, x * e + k) - inverse_(u * e + j, y * e + k);
      z += inverse_(v * e + j, y * e + k) - inverse_(v * e + j, x * e + k);
      total += squared ? z * z : z;
    }
  }
  return total;
}

void Lagrangian::slope(double tau, MutView out) const {
  std::ranges::copy(lack_, out.begin());
  if (!(tau > 0.0)) return;
  const Index a = split_->a, b = split_->b;
  const double inter = edge_block(a, b, a, b, false);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Index u = split_->u[i], v = split_->v[i];
    out[i] -= tau * (edge_block(u, v, u, v, false) - inter);
  }
}

Matrix Lagrangian::curvature(std::span<const Index> free, double tau) const {
  const auto count = static_cast<Index>(free.size());
  const Index a = split_->a, b = split_->b;
  std::vector<std::vector<double>> moved(free.size()), solved(free.size());
  for (std::size_t i = 0; i < free.size(); ++i) {
    moved[i].assign(lambda_.size(), 0.0);
    add_edge(moved[i], split_->u[free[i]], split_->v[free[i]], 1.0, lambda_);
    add_edge(moved[i], a, b, -1.0, lambda_);
    solved[i] = moved[i];
    solve_factored(solved[i]);
  }
  const double inter = tau > 0.0 ? edge_block(a, b, a, b, true) : 0.0;
  Matrix hessian(count, count);
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j <= i; ++j) {
      double total = 0.0;
      for (std::size_t k = 0; k < lambda_.size(); ++k) total += moved[i][k] * solved[j][k];
      if (tau > 0.0) {
        const Index u = split_->u[free[i]], v = split_->v[free[i]], x = split_->u[free[j]], y = split_->v[free[j]];
        total += tau * (inter + edge_block(u, v, x, y, true) - edge_block(u, v, a, b, true) - edge_block(a, b, x, y, true));
      }
      hessian(i, j) = hessian(j, i) = total;
    }
  }
  return hessian;
}

void newton_step(const Matrix& hessian, MutView step) {
  const auto n = static_cast<Index>(step.size());
  double ridge = 1e-300;
  for (Index i = 0; i < n; ++i) ridge = std::max(ridge, 1e-13 * hessian(i, i));
  Matrix low(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      double total = hessian(i, j);
      for (Index k = 0; k < j; ++k) total -= low(i, k) * low(j, k);
      low(i, j) = i == j ? std::sqrt(std::max(total + ridge, ridge)) : total / low(j, j);
    }
  }
  solve_lower(low, step);
  solve_lower_transposed(low, step);
}

}  // namespace linkarms
