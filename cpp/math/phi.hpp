// phi(x) = x - log(1 + x), of which the divergences of all families but the Gaussian are made.
#pragma once

#include <algorithm>
#include <cmath>

#include "math/constants.hpp"

namespace linkarms {

/// x - log(1 + x) to full relative precision, for x >= -1; infinite at -1.
/// Below |x| = 0.01 the difference would cancel: eight terms of the alternating series x^2 (1/2 - x/3 + ...),
/// exact to 1e-17 there.
[[nodiscard]] inline double phi(double x) {
  if (std::abs(x) < 0.01) {
    double s = 0.0;
    for (int n = 9; n > 1; --n) s = s * -x + 1.0 / n;
    return x * x * s;
  }
  if (x <= -1.0) return inf;
  return x - std::log1p(x);
}

/// phi(value / base - 1) for base > 0, where change = value - base.
/// Near one the change decides, which the caller knows better than the ratio; far away the ratio itself,
/// whose logarithm keeps its precision where value is tiny (1 + x would not).
[[nodiscard]] inline double phi_ratio(double value, double base, double change) {
  if (std::abs(change) < 0.5 * base) return phi(change / base);
  const double ratio = value / base;
  return ratio > 0.0 ? ratio - 1.0 - std::log(ratio) : inf;
}

/// The x >= 0 with phi(x) = level, rounded up by at most `tolerance`, relatively (but 1e-12 at least).
/// phi(x) >= x^2 / (2 + 4 x / 3) gives a first one that is not too small; as phi is convex, Newton's method
/// stays on its side.
[[nodiscard]] inline double phi_reach(double level, double tolerance) {
  if (!(0.0 < level && level < 1e100)) return std::max(2.0 * level, 0.0);  // so far out phi(x) > x / 2
  const double third = level * (2.0 / 3.0);
  double x = third + std::sqrt(third * third + 2.0 * level);
  for (int i = 0; i < 60; ++i) {
    const double step = (phi(x) - level) * (1.0 + x) / x;
    x -= step;
    if (!(step > tolerance * x)) break;
  }
  return x * (1.0 + 1e-12);
}

}  // namespace linkarms
