// Confidence bounds on the gaps between neighbours on a line, for MaxGap (Katariya, Tripathy, Nowak, NeurIPS 2019).
#pragma once

#include <algorithm>
#include <vector>

#include "math/constants.hpp"
#include "math/matrix.hpp"

namespace linkarms {

/// The largest gap to the right of arm a if its mean is x: the nearest arm that is surely on the right limits it.
[[nodiscard]] inline double right_gap(View low, View high, std::size_t a, double x) {
  double nearest = inf, farthest = 0.0;
  for (std::size_t j = 0; j < low.size(); ++j) {
    if (j == a) continue;
    if (low[j] > x) nearest = std::min(nearest, high[j] - x);
    farthest = std::max(farthest, high[j] - x);
  }
  return nearest < inf ? nearest : farthest;
}

/// Over all places of arm a: between left ends of others the gap shrinks, so these and low[a] are enough.
[[nodiscard]] inline double largest_right_gap(View low, View high, std::size_t a) {
  double largest = right_gap(low, high, a, low[a]);
  for (const double x : low) {
    if (low[a] <= x && x <= high[a]) largest = std::max(largest, right_gap(low, high, a, x));
  }
  return largest;
}

/// Upper bounds on the gaps beside each arm, and a lower bound on the largest gap (0 if none is certain), from the ends of
/// intervals.
struct GapBounds {
  std::vector<double> upper;
  double certain = 0.0;
};
[[nodiscard]] inline GapBounds gap_bounds(View low, View high) {
  const std::size_t n = low.size();
  std::vector<double> left(n), right(n);  // the line seen from the other side
  for (std::size_t m = 0; m < n; ++m) {
    left[m] = -high[m];
    right[m] = -low[m];
  }
  GapBounds out;
  for (std::size_t a = 0; a < n; ++a) {
    out.upper.push_back(std::max(largest_right_gap(low, high, a), largest_right_gap(left, right, a)));
    bool clear = true;
    double gap = inf;
    for (std::size_t j = 0; j < n; ++j) {
      if (j == a) continue;
      clear = clear && !(low[j] <= low[a] && low[a] <= high[j]);
      if (high[j] < low[a]) gap = std::min(gap, low[a] - high[j]);
    }
    if (clear && gap < inf) out.certain = std::max(out.certain, gap);
  }
  return out;
}

}  // namespace linkarms
