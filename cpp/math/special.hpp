// log Gamma and its first two derivatives.
#pragma once

#include <math.h>  // lgamma_r is not in namespace std

#include <cmath>

namespace linkarms {

/// log Gamma(x) for x > 0. std::lgamma may write the global signgam, so that two threads would race.
[[nodiscard]] inline double log_gamma(double x) {
#ifdef _WIN32
  return std::lgamma(x);  // has no signgam there
#else
  int sign = 0;
  return ::lgamma_r(x, &sign);
#endif
}

/// From here on the asymptotic series below are exact to a few units in the last place.
inline constexpr double large_for_series = 10.0;

/// d log Gamma(x) / dx for x > 0: the recurrence up to a large argument, then the asymptotic series.
[[nodiscard]] inline double digamma(double x) {
  double shift = 0.0;
  for (; x < large_for_series; x += 1.0) shift -= 1.0 / x;
  const double y = 1.0 / (x * x);
  const double tail = 1.0 / 240.0 - y * (1.0 / 132.0 - y * 691.0 / 32760.0);
  const double series = y * (1.0 / 12.0 - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y * tail)));
  return shift + std::log(x) - 0.5 / x - series;
}

/// The second derivative of log Gamma(x) for x > 0, in the same way.
[[nodiscard]] inline double trigamma(double x) {
  double shift = 0.0;
  for (; x < large_for_series; x += 1.0) shift += 1.0 / (x * x);
  const double y = 1.0 / (x * x);
  const double tail = 1.0 / 30.0 - y * (5.0 / 66.0 - y * 691.0 / 2730.0);
  const double series = y * (1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * tail)));
  return shift + (1.0 + 0.5 / x + series) / x;
}

}  // namespace linkarms
