// Where a divergence reaches a level.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>

#include "family/scalar.hpp"
#include "math/phi.hpp"

namespace linkarms {

/// Which way from the estimate.
enum class Side { below = -1, above = 1 };

/// A concrete one-dimensional family, rather than the variant over all.
template <class F>
concept ScalarFamily = requires(const F& f, double x) {
  { f.kl(x, x) } -> std::same_as<double>;
  { f.fisher(x) } -> std::same_as<double>;
};

/// The lam on one side of theta at which KL(theta, lam) reaches `level`. Rounded outwards, by at most
/// `tolerance` of its distance from theta; past the end of the domain where the KL stays below the level.
template <ScalarFamily F>
[[nodiscard]] double kl_interval(const F& f, double theta, double level, Side side, double tolerance) {
  if constexpr (std::same_as<F, GammaRate> || std::same_as<F, Poisson>) {
    if (side == Side::above && theta > 0.0) {
      // KL = theta limit phi(lam / theta - 1), with limit the largest slope
      const double scale = theta * f.slope_limit(theta);
      return theta + theta * (phi_reach(level / scale, tolerance) + 1e-12);
    }
  }
  const double sign = static_cast<double>(side);
  // where a quadratic with the curvature at theta would reach the level; then double until outside
  double step = std::sqrt(2.0 * level / f.fisher(theta)) + 1e-12 * std::abs(theta) + 1e-300;
  double inner = theta, outer = theta;
  for (int i = 0; i < 2000; ++i) {
    outer = inner + sign * step;
    if (!(f.kl(theta, outer) < level)) break;
    inner = outer;
    step *= 2.0;
  }
  for (int i = 0; i < 100; ++i) {
    const double x = 0.5 * (inner + outer);
    if (x == inner || x == outer) break;
    (f.kl(theta, x) < level ? inner : outer) = x;
    if (std::abs(outer - inner) <= tolerance * std::abs(outer - theta)) break;
  }
  return outer;
}

[[nodiscard]] inline double kl_interval(const Scalar& f, double theta, double level, Side side, double tolerance) {
  return std::visit([=](const auto& g) { return kl_interval(g, theta, level, side, tolerance); }, f);
}

/// Largest q with binary KL(p, q) <= level, rounded up.
[[nodiscard]] inline double bernoulli_upper(double p, double level) {
  return std::min(kl_interval(Bernoulli{}, p, level, Side::above, 1e-10), 1.0);
}

}  // namespace linkarms
