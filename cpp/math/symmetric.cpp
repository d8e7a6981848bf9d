#include "math/symmetric.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace linkarms {

namespace {

/// The rotation that makes entry (p, q) zero: its cosine, sine, and tangent, at most 45 degrees.
struct Rotation {
  double cosine, sine, tangent;
  Rotation(double pp, double qq, double pq) {
    const double ratio = (qq - pp) / (2.0 * pq);  // cotangent of twice the angle; infinite where pq is negligible
    tangent = std::copysign(1.0, ratio) / (std::abs(ratio) + std::hypot(ratio, 1.0));
    cosine = 1.0 / std::hypot(tangent, 1.0);
    sine = tangent * cosine;
  }
};

/// Rotate the upper triangle of a, and the columns p < q of the vectors.
void rotate(Matrix& a, Matrix& vectors, Index p, Index q) {
  const Rotation r(a(p, p), a(q, q), a(p, q));
  const Index n = a.rows();
  const auto turn = [&r](double& x, double& y) {
    const double from = x;
    x = r.cosine * from - r.sine * y;
    y = r.sine * from + r.cosine * y;
  };
  a(p, p) -= r.tangent * a(p, q);
  a(q, q) += r.tangent * a(p, q);
  a(p, q) = 0.0;
  for (Index i = 0; i < p; ++i) turn(a(i, p), a(i, q));
  for (Index i = p + 1; i < q; ++i) turn(a(p, i), a(i, q));
  for (Index i = q + 1; i < n; ++i) turn(a(p, i), a(q, i));
  for (Index i = 0; i < n; ++i) turn(vectors(i, p), vectors(i, q));
}

}  // namespace

Eigen symmetric_eigen(Matrix a) {
  const Index n = a.rows();
  if (!std::ranges::all_of(a.values(), [](double x) { return std::isfinite(x); })) {
    throw std::invalid_argument("a matrix has entries that are not finite; give finite numbers");
  }
  Matrix vectors(n, n);
  for (Index i = 0; i < n; ++i) vectors(i, i) = 1.0;
  // An entry is negligible where it cannot change the two eigenvalues it joins: against sqrt(a_pp a_qq), so
  // that small ones count too.
  constexpr double negligible = 0.25 * std::numeric_limits<double>::epsilon();
  for (int sweep = 0, turned = 1; sweep < 60 && turned > 0; ++sweep) {
    turned = 0;
    for (Index p = 0; p < n; ++p) {
      for (Index q = p + 1; q < n; ++q) {
        if (std::abs(a(p, q)) <= negligible * std::sqrt(std::abs(a(p, p))) * std::sqrt(std::abs(a(q, q)))) continue;
        rotate(a, vectors, p, q);
        ++turned;
      }
    }
  }
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&a](Index i) { return a(i, i); });
  Eigen out{{}, Matrix(n, n)};
  for (Index k = 0; k < n; ++k) {
    const Index from = order[static_cast<std::size_t>(k)];
    out.values.push_back(a(from, from));
    for (Index i = 0; i < n; ++i) out.vectors(i, k) = vectors(i, from);
  }
  return out;
}

bool cholesky(Matrix& a, double least_pivot) {
  const Index n = a.rows();
  for (Index j = 0; j < n; ++j) {
    const double least = least_pivot * std::abs(a(j, j));
    for (Index i = j; i < n; ++i) {
      double x = a(i, j);
      for (Index k = 0; k < j; ++k) x -= a(i, k) * a(j, k);
      if (i == j) {
        if (!(x > least)) return false;
        a(j, j) = std::sqrt(x);
      } else {
        a(i, j) = x / a(j, j);
        a(j, i) = 0.0;
      }
    }
  }
  return true;
}

void solve_lower(const Matrix& lower, MutView x) {
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) {
    const View row = lower.row(static_cast<Index>(i));
    for (std::size_t k = 0; k < i; ++k) x[i] -= row[k] * x[k];
    x[i] /= row[i];
  }
}

void solve_lower_transposed(const Matrix& lower, MutView x) {
  for (std::size_t i = x.size(); i-- > 0;) {
    const View row = lower.row(static_cast<Index>(i));
    x[i] /= row[i];
    for (std::size_t k = 0; k < i; ++k) x[k] -= row[k] * x[i];
  }
}

Matrix inverse_of_factor(const Matrix& lower) {
  Matrix out(lower.rows(), lower.rows());
  for (Index i = 0; i < lower.rows(); ++i) {  // row i of a symmetric inverse is its column i
    out(i, i) = 1.0;
    solve_lower(lower, out.row(i));
    solve_lower_transposed(lower, out.row(i));
  }
  return out;
}

Matrix inverse(Matrix a) {
  if (!cholesky(a)) throw std::invalid_argument("a matrix is not positive definite; give a covariance");
  Matrix out = inverse_of_factor(a);
  for (Index i = 0; i < out.rows(); ++i) {
    for (Index j = 0; j < i; ++j) out(i, j) = out(j, i) = 0.5 * (out(i, j) + out(j, i));
  }
  return out;
}

}  // namespace linkarms
