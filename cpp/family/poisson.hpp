// Counts, by their mean.
#pragma once

#include <algorithm>
#include <cmath>

#include "family/counts.hpp"
#include "family/domain.hpp"
#include "math/phi.hpp"

namespace linkarms {

/// KL(theta, lam) = theta phi(lam / theta - 1), or lam where theta = 0.
struct Poisson {
  static constexpr Domain domain = Domain::half_line;

  [[nodiscard]] double kl(double theta, double lam) const {
    if (lam < 0.0) return inf;
    return theta <= 0.0 ? lam : theta * phi_ratio(lam, theta, lam - theta);
  }
  [[nodiscard]] double step(double theta, double slope) const {
    if (slope < 1.0) return theta / (1.0 - slope);
    return theta <= 0.0 && slope == 1.0 ? 0.0 : inf;
  }
  [[nodiscard]] double gain(double theta, double, double lam) const { return theta > 0.0 ? lam * lam / theta : 0.0; }
  [[nodiscard]] double slope_limit(double) const { return 1.0; }
  [[nodiscard]] double inflection(double) const { return inf; }
  [[nodiscard]] double fisher(double theta) const { return 1.0 / std::max(theta, tiny); }
  [[nodiscard]] double estimate(double mean) const { return mean; }
  /// Prior Gamma(c lam, c): a ratio of gamma functions; c lam phi(n/c) = n lam - c lam log(1 + n/c), without
  /// cancellation.
  [[nodiscard]] double log_evidence(double n, double mean, double lam, double c) const {
    if (lam < 0.0) return inf;
    const double total = count_of(n, mean);
    return c * lam * phi(n / c) - total * std::log(c + n) + count_evidence(total, lam, c);
  }
};

}  // namespace linkarms
