// Gaussian samples with known variance, by their mean.
#pragma once

#include <cmath>

#include "family/domain.hpp"

namespace linkarms {

struct Gaussian {
  double variance;
  static constexpr Domain domain = Domain::line;

  [[nodiscard]] double kl(double theta, double lam) const { return (lam - theta) * (lam - theta) / (2.0 * variance); }
  [[nodiscard]] double step(double theta, double slope) const { return theta + variance * slope; }
  [[nodiscard]] double gain(double, double, double) const { return variance; }
  [[nodiscard]] double slope_limit(double) const { return inf; }
  [[nodiscard]] double inflection(double) const { return inf; }
  [[nodiscard]] double fisher(double) const { return 1.0 / variance; }
  [[nodiscard]] double estimate(double mean) const { return mean; }
  /// Prior N(lam, v / c):  n^2 (mean - lam)^2 / (2 v (n + c)) - log(1 + n/c) / 2.
  [[nodiscard]] double log_evidence(double n, double mean, double lam, double c) const {
    return n * n * (mean - lam) * (mean - lam) / (2.0 * variance * (n + c)) - 0.5 * std::log1p(n / c);
  }
  friend bool operator==(const Gaussian&, const Gaussian&) = default;
};

}  // namespace linkarms
