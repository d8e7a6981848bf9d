#include "pair/dominating_two_arms.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "math/constants.hpp"

namespace linkarms {
namespace {

double distance(View x, View y) {
  double square = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) square += (x[k] - y[k]) * (x[k] - y[k]);
  return std::sqrt(square);
}

}  // namespace

double move_away(const MovingArms::One& arm, View other, double r, MutView out) {
  const std::size_t d = arm.theta.size();
  std::vector<double> way(d), x(d);
  double best = inf;
  // |theta - other + s way| = r: the root above 0 of a quadratic, a little beyond it
  const auto try_way = [&](double most) {
    double along = 0.0, square = 0.0;
    for (std::size_t k = 0; k < d; ++k) {
      along += (arm.theta[k] - other[k]) * way[k];
      square += way[k] * way[k];
    }
    const double lack = r - distance(arm.theta, other), sum = r + distance(arm.theta, other);
    const double s = (-along + std::sqrt(along * along + square * lack * sum)) / square * (1.0 + 1e-12);
    if (!(s < most)) return;
    for (std::size_t k = 0; k < d; ++k) x[k] = arm.theta[k] + s * way[k];
    const double cost = arm.weight * arm.arm->kl(arm.theta, x);
    if (!(cost < best)) return;
    best = cost;
    std::ranges::copy(x, out.begin());
  };
  for (std::size_t k = 0; k < d; ++k) {
    if (arm.arm->is_categorical()) {
      for (std::size_t i = 0; i < d; ++i) way[i] = (i == k ? 1.0 : 0.0) - arm.theta[i];
      if (arm.theta[k] < 1.0) try_way(1.0);
      continue;
    }
    for (const double side : {1.0, -1.0}) {
      std::ranges::fill(way, 0.0);
      way[k] = side;
      try_way(inf);
    }
  }
  return best;
}

bool is_bounded(const Arm& arm) {
  return arm.is_categorical() || (arm.has_coordinates() && std::ranges::all_of(arm.coordinates(), is<Bernoulli>));
}

DominatingTwoArms::DominatingTwoArms(const Model& model)
    : basis_(tangent_basis(model)), pair_(basis_.cols()), point_(2, model.n_features()), aim_(point_), small_(2, basis_.cols()) {
  covariance_.fill(Matrix(basis_.cols(), basis_.cols()));
}

/// A feasible point and its cost: both arms meet, or one of them goes away.
double DominatingTwoArms::first_point(const std::array<MovingArms::One, 2>& arms, Apart apart, double r) {
  const auto cost = [&](Index i) { return arms[i].weight * arms[i].arm->kl(arms[i].theta, point_.row(i)); };
  for (Index i = 0; i < 2; ++i) std::ranges::copy(arms[i].theta, point_.row(i).begin());
  if (apart == Apart::at_most) {
    find_meeting_point(arms[0], arms[1], point_.row(0));
    std::ranges::copy(point_.row(0), point_.row(1).begin());
    return cost(0) + cost(1);
  }
  const double first = move_away(arms[0], arms[1].theta, r, point_.row(0));
  const double second = move_away(arms[1], arms[0].theta, r, point_.row(1));
  const Index other = first <= second ? 1 : 0;
  std::ranges::copy(arms[other].theta, point_.row(other).begin());
  return std::min(first, second);
}

Bounds DominatingTwoArms::solve(const MovingArms::One& first, const MovingArms::One& second, Apart apart, double r,
                                double level) {
  const std::array arms{first, second};
  const double length = distance(first.theta, second.theta);
  if (apart == Apart::at_most ? length <= r : length >= r) {
    for (Index i = 0; i < 2; ++i) std::ranges::copy(arms[i].theta, point_.row(i).begin());
    aim_ = point_;
    return {0.0, 0.0};
  }
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < basis_.cols(); ++j) {
      small_(i, j) = 0.0;
      for (Index k = 0; k < basis_.rows(); ++k) small_(i, j) += arms[i].theta[k] * basis_(k, j);
    }
  }
  Bounds found{0.0, first_point(arms, apart, r)};
  aim_ = point_;
  Matrix trial(2, basis_.rows());
  for (int turn = 0; turn < 6; ++turn) {
    if (found.upper == inf && !(is_bounded(*first.arm) && is_bounded(*second.arm))) break;  // nothing is known
    for (Index i = 0; i < 2; ++i) dominating_covariance(arms[i], found.upper / arms[i].weight, basis_, covariance_[i]);
    const bool finite = std::ranges::all_of(covariance_, [](const Matrix& x) {
      return std::ranges::all_of(x.values(), [](double v) { return std::abs(v) < 1e150; });
    });
    if (!finite) break;  // at this price an arm may go nearly anywhere
    const auto arm = [&](Index i) { return QuadraticArm{small_.row(i), &covariance_[i], arms[i].weight}; };
    found.lower = std::max(found.lower, std::min(pair_.solve(arm(0), arm(1), apart, r), found.upper));
    double cost = 0.0;
    for (Index i = 0; i < 2; ++i) {
      for (Index k = 0; k < basis_.rows(); ++k) {
        trial(i, k) = arms[i].theta[k];
        for (Index j = 0; j < basis_.cols(); ++j) trial(i, k) += basis_(k, j) * pair_.shift()(i, j);
      }
      cost += arms[i].weight * arms[i].arm->kl(arms[i].theta, trial.row(i));
    }
    aim_ = trial;
    for (Index i = 0; i < 2; ++i) bring_into_domain(arms[i], aim_.row(i));
    if (found.lower > level) break;
    const bool much_better = cost < found.upper * (1.0 - 1e-3);
    if (cost < found.upper) {
      found.upper = cost;
      point_ = trial;
    }
    if (!much_better) break;
  }
  return found;
}

}  // namespace linkarms
