#include "psi/edge_replacer.hpp"

#include <algorithm>

namespace linkarms::psi {
namespace {

/// How often an edge for which none was found is passed over,
constexpr int skipped = 6;
/// and once more for so many edges of its cut: a search costs as much as the cut has edges.
constexpr std::size_t edges_per_skip = 2000;

}  // namespace

EdgeReplacer::EdgeReplacer(Index n_arms) : skip_(static_cast<std::size_t>(n_arms)), stuck_(static_cast<std::size_t>(n_arms)) {}

void EdgeReplacer::begin() {
  std::ranges::fill(stuck_, 0);
}

/// The edge between the arms below x and those not below u that costs most against (a, b), by the Gaussian formula of four
/// arms at the spreads; nothing where that is at most the level.
std::optional<ClusterTrees::Alternative> EdgeReplacer::best_edge(const ClusteredArms& now, const Spreads& spreads,
                                                                 const ClusterTrees& trees, Index k, Index x, Index u, Index a,
                                                                 Index b, double twice) {
  outside_.clear();
  for (const Index w : trees.arms(k)) {
    if (!trees.is_below(w, u) && w != a && w != b) outside_.push_back(w);
  }
  const double q = now.dist(a, b), s = spreads[a] + spreads[b];
  double most = twice;
  std::optional<ClusterTrees::Alternative> best;
  for (const Index z : trees.below(x)) {
    if (z == a || z == b) continue;
    const View row = now.dist.row(z);
    for (const Index w : outside_) {
      const double square = signed_square(q - row[w] - spreads.slack()), total = spreads[z] + spreads[w] + s;
      if (!(square > most * total)) continue;
      most = square / total;
      best = ClusterTrees::Alternative{z, w};
    }
  }
  return best;
}

bool EdgeReplacer::replace(const ClusteredArms& now, const Spreads& spreads, ClusterTrees& trees, NearestBySpread& near, Index k,
                           Index x, Index a, Index b, double twice) {
  if (stuck_[x]) return false;
  if (skip_[x] > 0) {
    --skip_[x];
    return false;
  }
  const auto edge = best_edge(now, spreads, trees, k, x, x, a, b, twice);
  if (edge && !near.is_crossed(now, spreads, edge->inner, edge->outer, twice)) {
    trees.replace(now, k, x, edge->inner, edge->outer);
    return true;
  }
  const std::size_t inside = trees.below(x).size(), cut = inside * (trees.arms(k).size() - inside);
  stuck_[x] = 1;
  skip_[x] = skipped + static_cast<int>(cut / edges_per_skip);
  return false;
}

bool EdgeReplacer::replace_alternative(const ClusteredArms& now, const Spreads& spreads, ClusterTrees& trees, Index k, Index x,
                                       Index b, double twice) {
  const Index u = trees.parent(x);
  const auto edge = best_edge(now, spreads, trees, k, x, u, u, b, twice);
  if (!edge) return false;
  const double p = now.dist(edge->inner, edge->outer) + spreads.slack();
  const double r = spreads[edge->inner] + spreads[edge->outer];
  if (NearestBySpread::next_crossing(now, spreads, u, 0, p, r, twice) < now.size()) return false;
  trees.set_alternative(x, edge->inner, edge->outer);
  return true;
}

}  // namespace linkarms::psi
