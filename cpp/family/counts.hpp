// What one kind of event, counted s times, adds to a centred mixture: the common part of Bernoulli, Poisson
// and categorical arms.
//
//   e(m) = lgamma(s + c m) - lgamma(c m) - s log m        (section 5 of math.md)
//
// for an event of probability (or mean) m under a prior that weighs c samples.
#pragma once

#include <cmath>

#include "family/domain.hpp"
#include "math/special.hpp"

namespace linkarms {

/// The count behind a mean: whatever rounding has done to it.
[[nodiscard]] inline double count_of(double n, double mean) {
  return std::floor(n * mean + 0.5);
}

/// e(m). With one event the gamma functions cancel whatever m is, and so in the limit m = 0.
[[nodiscard]] inline double count_evidence(double s, double m, double c) {
  if (s <= 0.0) return 0.0;
  if (s == 1.0) return std::log(c);
  if (m <= 0.0) return inf;
  return log_gamma(s + c * m) - log_gamma(c * m) - s * std::log(m);
}

/// e'(m), for m > 0 where s > 1. psi(x) = psi(1 + x) - 1/x takes one of the s poles away.
[[nodiscard]] inline double count_slope(double s, double m, double c) {
  if (s <= 1.0) return 0.0;
  const double x = c * m;
  return c * (digamma(s + x) - digamma(1.0 + x)) - (s - 1.0) / m;
}

/// e''(m).
[[nodiscard]] inline double count_curvature(double s, double m, double c) {
  if (s <= 1.0) return 0.0;
  const double x = c * m;
  return c * c * (trigamma(s + x) - trigamma(1.0 + x)) + (s - 1.0) / (m * m);
}

}  // namespace linkarms
