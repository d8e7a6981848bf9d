// The log mean of exp(z h) over one half of a normal distribution, h ~ |N(0, 1)|, and its derivatives.
#pragma once

#include <cmath>

namespace linkarms {

/// H(z) = log(2 Phi(z)) + z^2 / 2 at one z. H is convex and increasing; H'' rises from 0 to 1.
struct OneSided {
  double value, slope, curvature;
};

/// H for every z, with H' = z + phi(z)/Phi(z) and H'' = 1 - H' phi(z)/Phi(z).
///   z >= -6: by erfc, which is far from underflow there; absolute error below 1e-14.
///   z < -6:  H'(-x) = 1/(x + 2/(x + 3/(x + ...))), the continued fraction of the Mills ratio without its
///   first
///            term: the formulas above would subtract numbers near x. 24 terms are exact to the last place.
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

}  // namespace linkarms
