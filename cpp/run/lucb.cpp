#include "run/lucb.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "linkage/spanning_tree.hpp"
#include "run/threshold.hpp"

namespace linkarms {

Index lucb_choice(const Distances& dist, const Clusters& clusters, std::span<const std::int64_t> n, Index n_features,
                  double level) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Index n_arms = dist.size();
  double beta = 2.0 * level;
  for (const auto pulls : n) beta += boc_penalty(static_cast<double>(pulls), n_features);
  std::vector<double> radius;
  for (const auto pulls : n) radius.push_back(std::sqrt(2.0 * beta / static_cast<double>(pulls)));
  // with infinite lengths between clusters, a spanning tree of all arms contains one of each cluster
  Distances upper(n_arms);
  double closest = inf;
  Index a = -1, b = -1;
  for (Index i = 0; i < n_arms; ++i) {
    for (Index j = i + 1; j < n_arms; ++j) {
      const double reach = radius[i] + radius[j];
      upper.set(i, j, clusters.together(i, j) ? dist(i, j) + reach : inf);
      if (!clusters.together(i, j) && dist(i, j) - reach < closest) {
        closest = dist(i, j) - reach;
        a = i;
        b = j;
      }
    }
  }
  const SpanningTree tree = minimum_spanning_tree(upper);
  double widest = -inf;
  Index u = -1, v = -1;
  for (Index m = 0; m < n_arms; ++m) {
    const Index p = tree.parent[m];
    if (p >= 0 && clusters.together(p, m) && tree.length[m] > widest) {
      widest = tree.length[m];
      u = m;
      v = p;
    }
  }
  Index best = a;
  for (const Index m : {b, u, v}) {
    if (m >= 0 && (best < 0 || n[m] < n[best] || (n[m] == n[best] && m < best))) best = m;
  }
  return best;
}

}  // namespace linkarms
