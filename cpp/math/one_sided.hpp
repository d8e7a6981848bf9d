// The log mean of exp(z h) over one half of a normal distribution, h ~ |N(0, 1)|, and its derivatives.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace linkarms {

/// H(z) = log(2 Phi(z)) + z^2 / 2 at one z. H is convex and increasing; H'' rises from 0 to 1.
struct OneSided {
  double value, slope, curvature;
};

/// H for every z, with H' = z + phi(z)/Phi(z) and H'' = 1 - H' phi(z)/Phi(z).
/// - z >= -6: by erfc, which is far from underflow there; absolute error below 1e-14.
/// - z < -6: H'(-x) = 1/(x + 2/(x + 3/(x + ...))), the continued fraction of the Mills ratio without its first term: the
///   formulas above would subtract numbers near x. 24 terms are exact to the last place.
[[nodiscard]] inline OneSided one_sided(double z) {
  constexpr double far = 6.0, root_half = 0.70710678118654752440, root_two_over_pi = 0.79788456080286535588;
  if (z < -far) {
    constexpr int terms = 24;
    const double x = -z;
    double rest = x;
    for (int k = terms; k > 2; --k) rest = x + k / rest;
    const double gap = 2.0 / rest, slope = 1.0 / (x + gap);
    return {std::log(root_two_over_pi / (x + slope)), slope, slope * (gap - slope)};
  }
  const double twice = std::erfc(-z * root_half);  // 2 Phi(z)
  const double ratio = root_two_over_pi * std::exp(-0.5 * z * z) / twice, slope = z + ratio;
  return {std::log(twice) + 0.5 * z * z, slope, 1.0 - ratio * slope};
}

/// H by quintic interpolation between exact values, slopes and curvatures at steps of 1/16, several times as
/// fast. From -12 to 12 the value is off by less than 1e-11, the slope by less than 1e-9 and the curvature by
/// less than 1e-7; above, log Phi(z) is less than 1e-32, and below the exact function is used.
class OneSidedTable {
 public:
  [[nodiscard]] static const OneSidedTable& get() {
    static const OneSidedTable table;
    return table;
  }

  [[nodiscard]] OneSided operator()(double z) const {
    if (z >= far) return {0.5 * z * z + log_two, z, 1.0};
    if (!(z > -far)) return one_sided(z);
    const double place = (z + far) * steps;
    // just below 12 the place may be rounded up to the end of the last cell
    const std::size_t i = std::min(static_cast<std::size_t>(place), cells - 1);
    const double s = place - static_cast<double>(i);
    const auto& [a, b, c, d, e, f] = cells_[i];
    return {a + s * (b + s * (c + s * (d + s * (e + s * f)))),
            steps * (b + s * (2.0 * c + s * (3.0 * d + s * (4.0 * e + s * 5.0 * f)))),
            steps * steps * (2.0 * c + s * (6.0 * d + s * (12.0 * e + s * 20.0 * f)))};
  }

 private:
  static constexpr double far = 12.0, steps = 16.0, log_two = 0.69314718055994530942;
  static constexpr std::size_t cells = 384;

  OneSidedTable() {
    for (std::size_t i = 0; i < cells; ++i) {
      const OneSided x = one_sided(static_cast<double>(i) / steps - far), y = one_sided(static_cast<double>(i + 1) / steps - far);
      const double b = x.slope / steps, c = 0.5 * x.curvature / (steps * steps);
      // what the parabola lacks at the other end: value, slope and curvature
      const double value = y.value - x.value - b - c, slope = y.slope / steps - b - 2.0 * c;
      const double curvature = y.curvature / (steps * steps) - 2.0 * c;
      cells_[i] = {x.value,
                   b,
                   c,
                   10.0 * value - 4.0 * slope + 0.5 * curvature,
                   -15.0 * value + 7.0 * slope - curvature,
                   6.0 * value - 3.0 * slope + 0.5 * curvature};
    }
  }

  std::array<std::array<double, 6>, cells> cells_;
};

}  // namespace linkarms
