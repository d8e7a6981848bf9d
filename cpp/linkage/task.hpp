// Which partition of the arms is asked for.
#pragma once

#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>

#include "math/matrix.hpp"

namespace linkarms {

/// Single linkage cut into K clusters, or where the gap is largest (section 7.2 of math.md), or the components of the
/// graph that joins arms closer than r (section 7.1). With a tolerance eps (section 8) differences of distances below
/// eps do not matter.
struct Task {
  Index n_clusters = 0;              ///< K; not read where there is a distance or the largest gap decides
  std::optional<double> distance{};  ///< r
  double tolerance = 0.0;            ///< eps
  bool largest_gap = false;          ///< K is that of the cut with the largest gap; see linkage/spanning_tree.hpp

  /// K was given, and a partition is right or wrong without tolerance: what most rules are made for.
  [[nodiscard]] bool is_fixed() const { return !distance && !largest_gap && tolerance == 0.0; }

  /// A partition is wrong where arms of two clusters are at most `merge_at` apart, or where a cluster has a split
  /// all of whose pairs are at least `split_at` apart. Only where there is a distance.
  [[nodiscard]] double merge_at() const { return *distance - tolerance; }
  [[nodiscard]] double split_at() const { return *distance + tolerance; }

  /// Throws std::invalid_argument for what cannot be asked of so many arms.
  void check(Index n_arms) const {
    if (!(tolerance >= 0.0 && std::isfinite(tolerance))) {
      throw std::invalid_argument("tolerance=" + std::to_string(tolerance) + " is out of range; give a number of at least 0");
    }
    if (distance && largest_gap) throw std::invalid_argument("a distance and the largest gap are both asked for; give one");
    if (distance) {
      if (!(*distance > 0.0 && std::isfinite(*distance))) {
        throw std::invalid_argument("distance=" + std::to_string(*distance) + " is out of range; give a number above 0");
      }
      if (tolerance >= *distance) {
        throw std::invalid_argument("tolerance=" + std::to_string(tolerance) + " is not below the distance threshold " +
                                    std::to_string(*distance) + "; give a smaller one");
      }
    } else if (largest_gap) {
      if (n_arms < 3) {
        throw std::invalid_argument("the cut with the largest gap needs at least 3 arms, not " + std::to_string(n_arms));
      }
    } else if (n_clusters < 1 || n_clusters > n_arms) {
      throw std::invalid_argument("n_clusters=" + std::to_string(n_clusters) + ", but there are " + std::to_string(n_arms) +
                                  " arms; choose 1 to " + std::to_string(n_arms) + ".");
    }
  }
};

}  // namespace linkarms
