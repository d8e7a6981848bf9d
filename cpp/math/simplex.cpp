#include "math/simplex.hpp"

#include <algorithm>
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

}  // namespace linkarms
