// From logarithms of terms to their shares in the sum.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

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

/// The indices of the shares, the largest first; of equal ones the first.
[[nodiscard]] inline std::vector<std::size_t> largest_first(std::span<const double> share) {
  std::vector<std::size_t> order(share.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::size_t i, std::size_t j) { return share[i] != share[j] ? share[i] > share[j] : i < j; });
  return order;
}

}  // namespace linkarms
