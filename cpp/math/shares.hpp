// From logarithms of terms to their shares in the sum.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace linkarms {

/// Replace log terms by their shares in the sum of the terms, and return the log of that sum. Where the
/// largest is infinite the shares mean nothing.
inline double to_shares(std::span<double> terms) {
  const double top = *std::ranges::max_element(terms);
  if (std::isinf(top)) return top;
  double total = 0.0;
  for (double& x : terms) total += x = std::exp(x - top);
  for (double& x : terms) x /= total;
  return top + std::log(total);
}

}  // namespace linkarms
