#include "pair/covariance.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "math/constants.hpp"
#include "math/symmetric.hpp"
#include "pair/secular.hpp"

namespace linkarms {

namespace {

/// Eigenvalues closer to the largest than this, relatively, belong to the top eigenspace.
constexpr double same_eigenvalue = 1e-9;
/// Weights farther apart than this go by eigenvalues.
constexpr double most_apart = 1e6;
/// Two lengths, and a cost and its lower bound, may be off by these, relatively.
constexpr double length_rounding = 1e-14, cost_rounding = 1e-9;
/// A share of the variances that rounding does not take for nothing.
constexpr double least_more = 1e-14;

/// The root of F(mu) = sum nu_i b_i^2 / (1 - mu nu_i)^2 in (0, 1/top), as x = 1 - mu top, which keeps its
/// relative precision where mu comes close to 1/top. Hard case: F < 0 up to 1/top, because the top eigenspace
/// holds none of b; then x = 0.
struct Root {
  double x = 0.0;
  bool hard = false;

  Root(View nu, View b, double top) {
    double weight = 0.0, total = 0.0, at_end = 0.0;
    for (std::size_t i = 0; i < nu.size(); ++i) {
      const double square = b[i] * b[i];
      total += square;
      if (nu[i] >= top * (1.0 - same_eigenvalue)) {
        weight += square;
      } else {
        const double rest = 1.0 - nu[i] / top;
        at_end += nu[i] * square / (rest * rest);
      }
    }
    hard = weight <= 1e-26 * total && at_end < 0.0;
    if (!hard) search(nu, b, top);
  }

 private:
  void search(View nu, View b, double top) {
    double low = 0.0, high = 1.0;
    x = 0.5;
    for (int turn = 0; turn < 300; ++turn) {
      double value = 0.0, slope = 0.0;
      for (std::size_t i = 0; i < nu.size(); ++i) {
        const double ratio = nu[i] / top, den = (1.0 - ratio) + x * ratio;
        value += nu[i] * b[i] * b[i] / (den * den);
        slope -= 2.0 * nu[i] * ratio * b[i] * b[i] / (den * den * den);
      }
      (value > 0.0 ? low : high) = x;
      const double next = x - value / slope;
      if (std::abs(next - x) <= 1e-15 * x) return;
      if (low < next && next < high) {
        x = next;
      } else {
        x = low > 0.01 * high ? 0.5 * (low + high) : std::max(10.0 * low, 0.01 * high);
      }
      if (high - low <= 1e-15 * high) return;
    }
  }
};

}  // namespace

// I_m = covariance / weight, A = I_u + I_v, B = I_a + I_b, X = I_u of a shared arm; the arms move by I_m times y = mu J z.
template <std::size_t D, class Blocks>
std::optional<double> QuadraticPair::run_small(const std::array<QuadraticArm, 4>& arms, bool shared, bool moves) {
  const auto& [u, v, a, b] = arms;
  constexpr bool dense = std::is_same_v<Blocks, DenseBlocks<D>>;
  const auto each_entry = [](auto look) {  // of a row and a column
    for (std::size_t i = 0; i < D; ++i) {
      for (std::size_t j = dense ? 0 : i; j < (dense ? D : i + 1); ++j) look(i, j);
    }
  };
  const auto entry = [](const QuadraticArm& arm, std::size_t i, std::size_t j) {
    return (*arm.covariance)(static_cast<Index>(i), static_cast<Index>(j)) * (1.0 / arm.weight);
  };
  SecularPair<Blocks> pair;
  pair.blocks.shared = shared;
  for (std::size_t i = 0; i < D; ++i) {
    pair.p[i] = u.theta[i] - v.theta[i];
    pair.q[i] = a.theta[i] - b.theta[i];
  }
  each_entry([&](std::size_t i, std::size_t j) {
    const auto at = [i, j](auto& matrix) -> double& {
      if constexpr (dense)
        return matrix[i][j];
      else
        return matrix[i];
    };
    at(pair.blocks.x) = entry(u, i, j);
    at(pair.blocks.a) = entry(u, i, j) + entry(v, i, j);
    at(pair.blocks.b) = entry(a, i, j) + entry(b, i, j);
  });
  const std::optional<double> value = pair.solve();
  if (!value || !moves) return value;
  each_entry([&](std::size_t i, std::size_t j) {
    const auto row = static_cast<Index>(i);
    const double yp = pair.mu * pair.z_p[j], yq = -pair.mu * pair.z_q[j];
    shift_(0, row) += entry(u, i, j) * (shared ? yp + yq : yp);
    shift_(1, row) -= entry(v, i, j) * yp;
    if (!shared) shift_(2, row) += entry(a, i, j) * yq;
    shift_(3, row) -= entry(b, i, j) * yq;
  });
  return value;
}

template <std::size_t D>
std::optional<double> QuadraticPair::run_small(const std::array<QuadraticArm, 4>& arms, bool shared, bool moves) {
  const bool diagonal = std::ranges::all_of(arms, [](const QuadraticArm& arm) {
    for (Index i = 0; i < static_cast<Index>(D); ++i) {
      for (Index j = 0; j < i; ++j) {
        if ((*arm.covariance)(i, j) != 0.0) return false;
      }
    }
    return true;
  });
  return diagonal ? run_small<D, DiagonalBlocks<D>>(arms, shared, moves) : run_small<D, DenseBlocks<D>>(arms, shared, moves);
}

// C = [[I_u + I_v, X], [X', I_a + I_b]], X = I_u where u = a is shared;  C = L L';  J = diag(1, -1);  L' J L
// = U diag(nu) U'; b = U' L^-1 (p; q);  z_i = b_i / (1 - mu nu_i) at the root mu of F;  y = L^-T U (z - b);
// u moves by I_u y_p, v by -I_v y_p, a by I_a y_q, b by -I_b y_q, a shared arm by I_u (y_p + y_q).
double QuadraticPair::run(const std::array<QuadraticArm, 4>& arms, bool shared, bool moves) {
  const auto& [u, v, a, b] = arms;
  const Index d = shift_.cols(), n = 2 * d;
  if (moves) std::ranges::fill(shift_.values(), 0.0);
  double pp = 0.0, qq = 0.0;
  for (Index i = 0; i < d; ++i) {
    pp += (u.theta[i] - v.theta[i]) * (u.theta[i] - v.theta[i]);
    qq += (a.theta[i] - b.theta[i]) * (a.theta[i] - b.theta[i]);
  }
  if (pp >= qq) return 0.0;
  // elimination keeps its precision only where no arm weighs far more than another
  const auto [lightest, heaviest] = std::minmax({u.weight, v.weight, a.weight, b.weight});
  std::optional<double> small;
  if (heaviest <= most_apart * lightest) {
    if (d == 2) small = run_small<2>(arms, shared, moves);
    if (d == 3) small = run_small<3>(arms, shared, moves);
    if (d == 4) small = run_small<4>(arms, shared, moves);
  }
  if (small) return *small;
  std::vector<double> r(n);
  for (Index i = 0; i < d; ++i) {
    r[i] = u.theta[i] - v.theta[i];
    r[d + i] = a.theta[i] - b.theta[i];
  }
  Matrix lower(n, n);
  const auto factor = [&](double more) {  // with variances larger by that share, for which the cost is smaller
    for (Index i = 0; i < d; ++i) {
      for (Index j = 0; j < d; ++j) {
        const double scale = i == j ? 1.0 + more : 1.0, of_u = scale * (*u.covariance)(i, j) / u.weight;
        lower(i, j) = of_u + scale * (*v.covariance)(i, j) / v.weight;
        lower(d + i, d + j) = scale * ((*a.covariance)(i, j) / a.weight + (*b.covariance)(i, j) / b.weight);
        lower(d + i, j) = shared ? of_u : 0.0;
      }
    }
    return cholesky(lower);
  };
  // rounding may leave nothing of a covariance that is nearly singular beside that of an arm that weighs far less
  for (double more = 0.0; !factor(more); more = std::max(10.0 * more, least_more)) {
    if (more > 1.0) throw std::logic_error("the covariances of a pair problem are not positive definite");
  }
  Matrix form(n, n);  // L' J L; only the upper triangle is needed
  for (Index k = 0; k < n; ++k) {
    const double sign = k < d ? 1.0 : -1.0;
    for (Index i = 0; i <= k; ++i) {
      for (Index j = i; j <= k; ++j) form(i, j) += sign * lower(k, i) * lower(k, j);
    }
  }
  const auto [nu, vectors] = symmetric_eigen(std::move(form));
  solve_lower(lower, r);
  std::vector<double> beta(n, 0.0), z(n);
  for (Index k = 0; k < n; ++k) {
    for (Index i = 0; i < n; ++i) beta[i] += vectors(k, i) * r[k];
  }
  const double top = nu.back();
  const Root root(nu, beta, top);
  const double mu = (1.0 - root.x) / top;
  double value = 0.0, rest = 0.0;
  for (Index i = 0; i < n; ++i) {
    if (root.hard && nu[i] >= top * (1.0 - same_eigenvalue)) {
      z[i] = beta[i];
      continue;
    }
    z[i] = beta[i] / ((1.0 - nu[i] / top) + root.x * nu[i] / top);
    value -= 0.5 * mu * nu[i] * beta[i] * z[i];
    rest += nu[i] * z[i] * z[i];
  }
  value = std::max(value, 0.0);
  if (!moves) return value;
  if (root.hard) {
    // what the constraint still lacks goes into the top eigenspace, along beta there (or any direction)
    const double missing = std::sqrt(std::max(-rest / top, 0.0));
    z[n - 1] = beta[n - 1] >= 0.0 ? missing : -missing;
  }
  std::vector<double> y(n, 0.0);
  for (Index i = 0; i < n; ++i) {
    for (Index k = 0; k < n; ++k) y[i] += vectors(i, k) * (z[k] - beta[k]);
  }
  solve_lower_transposed(lower, y);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      const double yp = y[j], yq = y[d + j];
      shift_(0, i) += (*u.covariance)(i, j) / u.weight * (shared ? yp + yq : yp);
      shift_(1, i) -= (*v.covariance)(i, j) / v.weight * yp;
      if (!shared) shift_(2, i) += (*a.covariance)(i, j) / a.weight * yq;
      shift_(3, i) -= (*b.covariance)(i, j) / b.weight * yq;
    }
  }
  return value;
}

Matrix covariance_of(const Arm& arm) {
  if (arm.has_covariance()) return arm.covariance().covariance;
  const auto& coordinates = arm.coordinates();
  const Index d = static_cast<Index>(coordinates.size());
  Matrix out(d, d);
  for (Index i = 0; i < d; ++i) out(i, i) = std::get<Gaussian>(coordinates[i]).variance;
  return out;
}

CovariancePairs::CovariancePairs(const Model& model) : pair_(model.n_features()) {
  const std::vector<double> anywhere(model.n_features(), 0.0);
  for (Index m = 0; m < model.n_arms(); ++m) {
    covariance_.push_back(covariance_of(model.arm(m)));
    variance_.push_back(model.arm(m).variance(anywhere));
  }
}

std::array<QuadraticArm, 4> CovariancePairs::arms(const Weighted& at, const Witness& w) const {
  const auto arm = [&](Index m) { return QuadraticArm{at.theta.row(m), &covariance_[m], at.weight[m]}; };
  return {arm(w.u), arm(w.v), arm(w.a), arm(w.b)};
}

double CovariancePairs::cost(const Weighted& at, const Witness& w, double level) {
  if (level < inf) {
    // a larger covariance costs less: the closed form with the largest eigenvalues is a lower bound. A gap of
    // two rounded lengths counts less a rounding of them: the squares that `run` compares may be equal
    const double gap = at.dist(w.a, w.b) * (1.0 - length_rounding) - at.dist(w.u, w.v);
    if (gap > 0.0) {
      const double bound = isotropic_bound(gap, at.spread, w);
      if (bound > level * (1.0 + cost_rounding)) return bound;
    }
  }
  return pair_.cost(arms(at, w), w.shared());
}

void CovariancePairs::solve(const Weighted& at, const Witness& w, Matrix& lam) {
  pair_.solve(arms(at, w), w.shared());
  const std::array<Index, 4> rows{w.u, w.v, w.a, w.b};
  for (Index k = 0; k < 4; ++k) {
    if (k == 2 && w.shared()) continue;
    for (Index i = 0; i < lam.cols(); ++i) lam(rows[k], i) += pair_.shift()(k, i);
  }
}

}  // namespace linkarms
