#include "math/simplex.hpp"

#include <algorithm>
#include <cassert>

#include "math/constants.hpp"

namespace linkarms {

// The projection is max(w - tau k, 0) with sum k w = 1. Michelot's algorithm: take the tau = (sum k w - 1) / sum k^2 over the
// entries that are still candidates, drop those that are not above tau k, repeat until none is dropped: at most M rounds, few in
// practice, and nothing is sorted. What is dropped stays out, whatever rounding says later. A shift by a multiple of k changes
// nothing: with the largest w/k at zero, tau is negative, and that entry always stays. Infinite entries share everything.
void project_simplex(MutView w, View costs) {
  assert(costs.empty() || w.size() == costs.size());
  constexpr double out = -inf;
  const auto cost = [costs](std::size_t m) { return costs.empty() ? 1.0 : costs[m]; };
  double largest = out;
  for (std::size_t m = 0; m < w.size(); ++m) largest = std::max(largest, w[m] / cost(m));
  for (std::size_t m = 0; m < w.size(); ++m) w[m] = w[m] / cost(m) == largest ? 0.0 : w[m] - largest * cost(m);
  double tau = out;
  for (bool dropped = true; dropped;) {
    double total = 0.0, squares = 0.0;
    for (std::size_t m = 0; m < w.size(); ++m) {
      if (w[m] == out) continue;
      total += cost(m) * w[m];
      squares += cost(m) * cost(m);
    }
    tau = (total - 1.0) / squares;
    dropped = false;
    for (std::size_t m = 0; m < w.size(); ++m) {
      if (w[m] == out || w[m] > tau * cost(m)) continue;
      w[m] = out;
      dropped = true;
    }
  }
  for (std::size_t m = 0; m < w.size(); ++m) w[m] = std::max(w[m] - tau * cost(m), 0.0);
}

}  // namespace linkarms
