// Samples 0 or 1, by the probability of a 1.
#pragma once

#include <algorithm>
#include <cmath>

#include "family/counts.hpp"
#include "family/domain.hpp"
#include "math/phi.hpp"

namespace linkarms {

/// KL(theta, lam) = theta phi((lam - theta) / theta) + (1 - theta) phi((theta - lam) / (1 - theta)).
struct Bernoulli {
  static constexpr Domain domain = Domain::unit;

  /// At theta = 0 or 1 one of the two terms is gone, and with it the cancelling linear part.
  [[nodiscard]] double kl(double theta, double lam) const {
    if (lam < 0.0 || lam > 1.0) return inf;
    if (theta <= 0.0) return lam < 1.0 ? -std::log1p(-lam) : inf;
    if (theta >= 1.0) return lam > 0.0 ? -std::log(lam) : inf;
    const double up = theta * phi_ratio(lam, theta, lam - theta);
    return up + (1.0 - theta) * phi_ratio(1.0 - lam, 1.0 - theta, theta - lam);
  }
  /// The root in [0, 1] of slope x^2 + (1 - slope) x - theta = 0, by the form that does not cancel.
  [[nodiscard]] double step(double theta, double slope) const {
    const double rest = 1.0 - slope;
    const double root = std::sqrt(std::max(rest * rest + 4.0 * slope * theta, 0.0));
    double lam = 0.0;
    if (rest < 0.0) {
      lam = (root - rest) / (2.0 * slope);
    } else if (rest + root > 0.0) {
      lam = 2.0 * theta / (rest + root);
    }
    return std::min(std::max(lam, 0.0), 1.0);
  }
  [[nodiscard]] double gain(double theta, double, double lam) const {
    double curvature = 0.0;
    if (theta > 0.0) curvature += theta / (lam * lam);
    if (theta < 1.0) curvature += (1.0 - theta) / ((1.0 - lam) * (1.0 - lam));
    return 1.0 / curvature;
  }
  [[nodiscard]] double slope_limit(double) const { return inf; }
  [[nodiscard]] double inflection(double) const { return inf; }
  [[nodiscard]] double fisher(double theta) const { return 1.0 / std::max(theta * (1.0 - theta), tiny); }
  [[nodiscard]] double estimate(double mean) const { return mean; }
  /// Prior Beta(c lam, c (1 - lam)): a ratio of beta functions.
  [[nodiscard]] double log_evidence(double n, double mean, double lam, double c) const {
    const double ones = count_of(n, mean);
    const double both = count_evidence(ones, lam, c) + count_evidence(n - ones, 1.0 - lam, c);
    return both - log_gamma(n + c) + log_gamma(c);
  }
};

}  // namespace linkarms
