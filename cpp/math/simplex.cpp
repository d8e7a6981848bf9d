#include "math/simplex.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace linkarms {

// The projection is max(x - tau, 0). Michelot's algorithm: take the tau that makes the entries that are still
// candidates add up to one, drop those that are not above it, repeat until none is dropped: at most M rounds,
// few in practice, and nothing is sorted. What is dropped stays out, whatever rounding says later. Infinite
// entries share everything.
void project_simplex(MutView x) {
  constexpr double out = -std::numeric_limits<double>::infinity();
  const double largest = *std::ranges::max_element(x);
  // A shift of all entries changes nothing; with the largest at zero, tau is negative and the largest always
  // stays.
  for (double& v : x) v = v == largest ? 0.0 : v - largest;
  double tau = out;
  for (bool dropped = true; dropped;) {
    double total = 0.0;
    int count = 0;
    for (double v : x) {
      if (v > out) {
        total += v;
        ++count;
      }
    }
    tau = (total - 1.0) / count;
    dropped = false;
    for (double& v : x) {
      if (out < v && v <= tau) {
        v = out;
        dropped = true;
      }
    }
  }
  for (double& v : x) v = std::max(v - tau, 0.0);
}

// The projection is max(w - tau k, 0) with sum k w = 1. Michelot's algorithm as above, with tau = (sum k w - 1) / sum k^2 over
// the candidates; entries that are not above tau k are dropped. A shift by a multiple of k changes nothing: with the largest w/k
// at zero, tau is negative, and that entry always stays.
void project_simplex(MutView w, View costs) {
  constexpr double out = -std::numeric_limits<double>::infinity();
  assert(w.size() == costs.size());
  double largest = out;
  for (std::size_t m = 0; m < w.size(); ++m) largest = std::max(largest, w[m] / costs[m]);
  for (std::size_t m = 0; m < w.size(); ++m) w[m] = w[m] / costs[m] == largest ? 0.0 : w[m] - largest * costs[m];
  double tau = out;
  for (bool dropped = true; dropped;) {
    double total = 0.0, squares = 0.0;
    for (std::size_t m = 0; m < w.size(); ++m) {
      if (w[m] == out) continue;
      total += costs[m] * w[m];
      squares += costs[m] * costs[m];
    }
    tau = (total - 1.0) / squares;
    dropped = false;
    for (std::size_t m = 0; m < w.size(); ++m) {
      if (w[m] == out || w[m] > tau * costs[m]) continue;
      w[m] = out;
      dropped = true;
    }
  }
  for (std::size_t m = 0; m < w.size(); ++m) w[m] = std::max(w[m] - tau * costs[m], 0.0);
}

}  // namespace linkarms
