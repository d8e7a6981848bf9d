#include "psi/split_bounds.hpp"

#include <algorithm>
#include <functional>

#include "linkage/spanning_tree.hpp"
#include "math/constants.hpp"
#include "pair/isotropic.hpp"
#include "pair/witness.hpp"

namespace linkarms {
namespace {

/// Smallest edge of a maximum spanning tree of `arms` under the bounds against (a, b), or `level` if that is
/// less.
double smallest_edge(const Distances& dist, View spread, std::span<const Index> arms, Index a, Index b, double level) {
  double smallest = level;
  grow_tree(
      static_cast<Index>(arms.size()),
      [&](Index i, Index j) { return isotropic_bound(dist, spread, Witness{arms[i], arms[j], a, b}.oriented()); },
      std::greater<>(), [&](Index, double bound) { smallest = std::min(smallest, bound); });
  return smallest;
}

/// The arms of one pair of pairs, taken out of all.
SplitArms pick(const SplitArms& all, const Witness& w) {
  std::vector<Index> arms{w.u, w.v};
  if (!w.shared()) arms.push_back(w.a);
  arms.push_back(w.b);
  const auto n = static_cast<Index>(arms.size());
  SplitArms some{n, all.rows, all.cols, {}, {}, {0}, {1}, w.shared() ? 0 : 2, n - 1};
  const Index width = all.rows * all.cols, square = all.rows * all.rows;
  for (Index m : arms) {
    some.theta.insert(some.theta.end(), all.theta.begin() + m * width, all.theta.begin() + (m + 1) * width);
    some.precision.insert(some.precision.end(), all.precision.begin() + m * square, all.precision.begin() + (m + 1) * square);
  }
  return some;
}

}  // namespace

void split_bounds(const Distances& dist, View spread, const Clusters& clusters, double level, MutView bounds) {
  const auto n = static_cast<std::size_t>(clusters.n_arms());
  std::ranges::fill(bounds, inf);
  for (Index k = 0; k < clusters.n_clusters(); ++k) {
    if (clusters.size(k) < 2) continue;
    for (Index a = 0; a < clusters.n_arms(); ++a) {
      for (Index b = a + 1; b < clusters.n_arms(); ++b) {
        if (clusters.together(a, b)) continue;
        bounds[(k * n + a) * n + b] = smallest_edge(dist, spread, clusters.members(k), a, b, level);
      }
    }
  }
}

void pair_values(const SplitArms& all, std::span<const Index> cluster, Index a, Index b, double level, MutView values) {
  const std::size_t n = cluster.size();
  for (std::size_t i = 0; i < n; ++i) {
    values[i * n + i] = inf;
    for (std::size_t j = 0; j < i; ++j) {
      const SplitArms some = pick(all, Witness{cluster[i], cluster[j], a, b}.oriented());
      values[i * n + j] = values[j * n + i] = std::min(ascend(some, {0.0}, level).value, level);
    }
  }
}

}  // namespace linkarms
