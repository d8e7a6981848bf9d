// The Gaussian that stays below a divergence: the quadratic bound of section 2.1 of math.md.
#pragma once

#include <algorithm>

#include "family/kl_interval.hpp"

namespace linkarms {

/// The smallest v known to give KL(theta, x) >= (x - theta)^2 / (2 v) wherever KL(theta, x) <= level.
/// For gamma and Poisson (x - theta)^2 / (2 KL(theta, x)) increases in x: its value at the upper end. For
/// Bernoulli the largest variance in between. The larger the tolerance, the sooner it is found, and the
/// larger it is.
template <ScalarFamily F>
[[nodiscard]] double dominating_variance(const F& f, double theta, double level, double tolerance) {
  if constexpr (std::same_as<F, Gaussian>) {
    return f.variance;
  } else {
    const double high = kl_interval(f, theta, level, Side::above, tolerance);
    if constexpr (std::same_as<F, Bernoulli>) {
      const double low = std::max(kl_interval(f, theta, level, Side::below, tolerance), 0.0);
      const double top = std::min(high, 1.0);
      if (low <= 0.5 && 0.5 <= top) return 0.25;
      return std::max(low * (1.0 - low), top * (1.0 - top));
    } else {
      const double divergence = f.kl(theta, high);
      if (divergence == inf) return inf;
      const double at_end = (high - theta) * (high - theta) / (2.0 * divergence);
      return std::max(at_end, 1.0 / f.fisher(theta)) * (1.0 + 1e-9);
    }
  }
}

[[nodiscard]] inline double dominating_variance(const Scalar& f, double theta, double level, double tolerance) {
  return std::visit([=](const auto& g) { return dominating_variance(g, theta, level, tolerance); }, f);
}

}  // namespace linkarms
