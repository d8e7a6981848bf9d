// Gamma samples with known shape k, by their rate or by their mean; k = 1 is the exponential distribution.
#pragma once

#include <algorithm>
#include <cmath>

#include "family/domain.hpp"
#include "math/phi.hpp"
#include "math/special.hpp"

namespace linkarms {

/// The centred mixture of both: rate / lam ~ Gamma(k c + 1, k c). With S the sum of the samples and x = S lam
/// (by the rate),
///   x - (k (n + c) + 1) log(k c + x) + (k c + 1) log(k c) + lgamma(k (n + c) + 1) - lgamma(k c + 1).
[[nodiscard]] inline double gamma_evidence(double shape, double n, double x, double c) {
  const double k = shape * c;
  return x - (shape * n + k + 1.0) * std::log(k + x) + (k + 1.0) * std::log(k) + log_gamma(shape * n + k + 1.0) -
         log_gamma(k + 1.0);
}

/// KL(theta, lam) = k phi(lam / theta - 1).
struct GammaRate {
  double shape;
  static constexpr Domain domain = Domain::half_line;

  [[nodiscard]] double kl(double theta, double lam) const { return lam > 0.0 ? shape * phi_ratio(lam, theta, lam - theta) : inf; }
  [[nodiscard]] double step(double theta, double slope) const {
    const double rest = 1.0 / theta - slope / shape;
    return rest > 0.0 ? 1.0 / rest : inf;
  }
  [[nodiscard]] double gain(double, double, double lam) const { return lam * lam / shape; }
  [[nodiscard]] double slope_limit(double theta) const { return shape / theta; }
  [[nodiscard]] double inflection(double) const { return inf; }
  [[nodiscard]] double fisher(double theta) const { return shape / (theta * theta); }
  [[nodiscard]] double estimate(double mean) const { return shape / std::max(mean, tiny); }
  [[nodiscard]] double log_evidence(double n, double mean, double lam, double c) const {
    return gamma_evidence(shape, n, n * mean * lam, c);
  }
};

/// KL(theta, lam) = k phi(theta / lam - 1): convex up to lam = 2 theta.
struct GammaMean {
  double shape;
  static constexpr Domain domain = Domain::half_line;

  [[nodiscard]] double kl(double theta, double lam) const { return lam > 0.0 ? shape * phi_ratio(theta, lam, theta - lam) : inf; }
  /// The smaller root of slope lam^2 - k lam + k theta = 0; at the inflection where there is none.
  [[nodiscard]] double step(double theta, double slope) const {
    const double disc = 1.0 - 4.0 * slope / shape * theta;
    return disc > 0.0 ? 2.0 * theta / (1.0 + std::sqrt(disc)) : 2.0 * theta;
  }
  [[nodiscard]] double gain(double theta, double, double lam) const {
    const double curvature = shape * (2.0 * theta - lam) / (lam * lam * lam);
    return curvature > 0.0 ? 1.0 / curvature : 0.0;
  }
  [[nodiscard]] double slope_limit(double) const { return inf; }
  [[nodiscard]] double inflection(double theta) const { return 2.0 * theta; }
  [[nodiscard]] double fisher(double theta) const { return shape / (theta * theta); }
  [[nodiscard]] double estimate(double mean) const { return std::max(mean, tiny); }
  [[nodiscard]] double log_evidence(double n, double mean, double lam, double c) const {
    return gamma_evidence(shape, n, n * mean * (shape / lam), c);
  }
};

}  // namespace linkarms
