#include "pair/dominating.hpp"

#include <algorithm>
#include <cmath>

#include "family/dominating_variance.hpp"
#include "math/constants.hpp"
#include "math/symmetric.hpp"

namespace linkarms {

namespace {

/// basis' diag(precision) basis.
Matrix project_diagonal(const Matrix& basis, View precision) {
  Matrix out(basis.cols(), basis.cols());
  for (Index i = 0; i < basis.rows(); ++i) {
    for (Index j = 0; j < basis.cols(); ++j) {
      for (Index k = 0; k < basis.cols(); ++k) out(j, k) += basis(i, j) * precision[i] * basis(i, k);
    }
  }
  return out;
}

}  // namespace

void bring_into_domain(const MovingArms::One& arm, MutView x) {
  for (int turn = 0; turn < 60; ++turn) {
    if (arm.arm->kl(arm.theta, x) < inf) return;
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = 0.5 * (x[k] + arm.theta[k]);
  }
  std::ranges::copy(arm.theta, x.begin());
}

Matrix tangent_basis(const Model& model) {
  const Index d = model.n_features();
  if (!model.arm(0).is_categorical()) {
    Matrix identity(d, d);
    for (Index i = 0; i < d; ++i) identity(i, i) = 1.0;
    return identity;
  }
  Matrix helmert(d, d - 1);
  for (Index j = 1; j < d; ++j) {
    const double norm = std::sqrt(j * (j + 1.0));
    for (Index i = 0; i < j; ++i) helmert(i, j - 1) = 1.0 / norm;
    helmert(j, j - 1) = -j / norm;
  }
  return helmert;
}

DominatingPair::DominatingPair(const Model& model)
    : basis_(tangent_basis(model)),
      pair_(basis_.cols()),
      point_(4, model.n_features()),
      aim_(point_),
      trial_(point_),
      small_(4, basis_.cols()) {
  covariance_.fill(Matrix(basis_.cols(), basis_.cols()));
}

void dominating_covariance(const MovingArms::One& arm, double level, const Matrix& basis, Matrix& out) {
  if (arm.arm->has_covariance()) {
    out = arm.arm->covariance().covariance;
    return;
  }
  if (arm.arm->has_coordinates()) {
    const auto& coordinates = arm.arm->coordinates();
    std::ranges::fill(out.values(), 0.0);
    for (Index i = 0; i < out.rows(); ++i) {
      out(i, i) = dominating_variance(coordinates[i], arm.theta[i], level, 1e-10);
    }
    return;
  }
  // On the segment the curvature is diag(p_i / x_i^2) >= diag(p_i / upper_i^2); Pinsker: KL >= |x - p|^2
  // always.
  std::vector<double> precision;
  for (const double p : arm.theta) {
    const double upper = std::max(bernoulli_upper(p, level), p);
    precision.push_back(p > 0.0 ? p / (upper * upper) : 0.0);
  }
  if (*std::ranges::min_element(precision) < 2.0 && symmetric_eigen(project_diagonal(basis, precision)).values.front() < 2.0) {
    std::ranges::fill(precision, 2.0);
  }
  out = inverse(project_diagonal(basis, precision));
  for (double& x : out.values()) x *= 1.0 + 1e-9;
}

void find_meeting_point(const MovingArms::One& a, const MovingArms::One& b, MutView out) {
  for (std::size_t k = 0; k < out.size(); ++k) {
    const double mean = (a.weight * a.theta[k] + b.weight * b.theta[k]) / (a.weight + b.weight);
    const auto finite = [k](const MovingArms::One& arm, double x) {
      return !arm.arm->has_coordinates() || kl(arm.arm->coordinates()[k], arm.theta[k], x) < inf;
    };
    double x = mean;
    for (const double goal : {b.theta[k], a.theta[k]}) {
      x = mean;
      for (int turn = 0; turn < 60 && !(finite(a, x) && finite(b, x)); ++turn) x = 0.5 * (x + goal);
      if (finite(a, x) && finite(b, x)) break;
    }
    out[k] = x;
  }
}

/// Whether the variances are finite and of comparable size, so that the eigenvalue problem can be trusted.
bool DominatingPair::well_scaled(const MovingArms& arms) const {
  double smallest = inf, largest = 0.0;
  for (Index i = 0; i < arms.size(); ++i) {
    for (Index k = 0; k < basis_.cols(); ++k) {
      const double variance = covariance_[i](k, k) / arms[i].weight;
      if (!(variance < inf)) return false;
      smallest = std::min(smallest, variance);
      largest = std::max(largest, variance);
    }
  }
  return largest < 1e12 * smallest;
}

Bounds DominatingPair::solve(const MovingArms& arms, double level) {
  const Index n = arms.size(), d = basis_.rows(), dd = basis_.cols(), last = arms.a();
  double pp = 0.0, qq = 0.0;
  for (Index k = 0; k < d; ++k) {
    const double p = arms[MovingArms::u].theta[k] - arms[MovingArms::v].theta[k];
    const double q = arms[last].theta[k] - arms[MovingArms::b].theta[k];
    pp += p * p;
    qq += q * q;
  }
  for (Index i = 0; i < n; ++i) std::ranges::copy(arms[i].theta, point_.row(i).begin());
  if (pp >= qq) {
    aim_ = point_;
    return {0.0, 0.0};
  }
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < dd; ++j) {
      small_(i, j) = 0.0;
      for (Index k = 0; k < d; ++k) small_(i, j) += arms[i].theta[k] * basis_(k, j);
    }
  }
  const Index b = MovingArms::b;
  find_meeting_point(arms[last], arms[b], point_.row(last));  // a first feasible point: the inter pair meets
  std::ranges::copy(point_.row(last), point_.row(b).begin());
  Bounds found{0.0, arms.cost(last, point_.row(last)) + arms.cost(b, point_.row(b))};
  aim_ = point_;
  const auto arm = [&](Index i) { return QuadraticArm{small_.row(i), &covariance_[i], arms[i].weight}; };
  for (int turn = 0; turn < 6; ++turn) {
    for (Index i = 0; i < n; ++i) dominating_covariance(arms[i], found.upper / arms[i].weight, basis_, covariance_[i]);
    if (!well_scaled(arms)) break;  // at this price an arm may go nearly anywhere: nothing is known
    const double value = pair_.solve({arm(MovingArms::u), arm(MovingArms::v), arm(last), arm(b)}, arms.shared());
    found.lower = std::max(found.lower, std::min(value, found.upper));
    constexpr std::array<Index, 4> row_of_shift{0, 1, 3, 2};  // shifts are in the order u, v, a, b
    for (Index i = 0; i < n; ++i) {
      for (Index k = 0; k < d; ++k) {
        trial_(i, k) = arms[i].theta[k];
        for (Index j = 0; j < dd; ++j) trial_(i, k) += basis_(k, j) * pair_.shift()(row_of_shift[i], j);
        aim_(i, k) = trial_(i, k);
      }
      bring_into_domain(arms[i], aim_.row(i));
    }
    const double cost = arms.cost(trial_);
    if (found.lower >= level) break;
    const bool much_better = cost < found.upper * (1.0 - 1e-3);
    if (cost < found.upper) {
      found.upper = cost;
      point_ = trial_;
    }
    if (!much_better) break;
  }
  return found;
}

}  // namespace linkarms
