#include "psi/edge_replacer.hpp"

#include <algorithm>

namespace linkarms::psi {
namespace {

/// How many pairs a new edge is chosen by.
constexpr std::size_t most_pairs = 5;
/// How often an edge for which none was found is passed over,
constexpr int skipped = 6;
/// and once more for so many edges of its cut: a search costs as much as the cut has edges.
constexpr std::size_t edges_per_skip = 2000;

}  // namespace

EdgeReplacer::EdgeReplacer(Index n_arms) : skip_(static_cast<std::size_t>(n_arms)), stuck_(static_cast<std::size_t>(n_arms)) {}

void EdgeReplacer::begin() {
  std::ranges::fill(stuck_, 0);
}

void EdgeReplacer::note(const ClusteredArms& now, const Spreads& spreads, Index a, Index b) {
  pairs_.push_back({a, b, now.dist(a, b), spreads[a] + spreads[b]});
}

/// The edge between the arms below x and those not below u whose least cost against the pairs is largest, by
/// the Gaussian formula of four arms at the spreads; nothing where that is at most the level.
std::optional<ClusterTrees::Alternative> EdgeReplacer::best_edge(const ClusteredArms& now, const Spreads& spreads,
                                                                 const ClusterTrees& trees, Index k, Index x, Index u,
                                                                 double twice) {
  outside_.clear();
  for (const Index w : trees.arms(k)) {
    if (!trees.is_below(w, u)) outside_.push_back(w);
  }
  const auto of_pair = [this](Index m) {
    return std::ranges::any_of(pairs_, [m](const Against& pair) { return m == pair.a || m == pair.b; });
  };
  double most = 0.0;  // twice the cost
  ClusterTrees::Alternative best;
  for (const Index z : trees.below(x)) {
    const View row = now.dist.row(z);
    for (const Index w : outside_) {
      const double p = row[w] + spreads.slack(), r = spreads[z] + spreads[w];
      const bool better =
          std::ranges::all_of(pairs_, [&](const Against& pair) { return signed_square(pair.q - p) > most * (r + pair.s); });
      if (!better || of_pair(z) || of_pair(w)) continue;
      most = inf;
      for (const Against& pair : pairs_) most = std::min(most, signed_square(pair.q - p) / (r + pair.s));
      best = {z, w};
    }
  }
  return most > twice ? std::optional(best) : std::nullopt;
}

bool EdgeReplacer::replace(const ClusteredArms& now, const Spreads& spreads, ClusterTrees& trees, NearestBySpread& near, Index k,
                           Index x, Index a, Index b, double twice) {
  if (stuck_[x]) return false;
  if (skip_[x] > 0) {
    --skip_[x];
    return false;
  }
  pairs_.clear();
  note(now, spreads, a, b);
  while (const auto edge = best_edge(now, spreads, trees, k, x, x, twice)) {
    const auto fails = near.first_crossing(now, spreads, edge->inner, edge->outer, twice);
    if (!fails) {
      trees.replace(now, k, x, edge->inner, edge->outer);
      return true;
    }
    if (pairs_.size() == most_pairs) break;
    note(now, spreads, fails->u, fails->v);
  }
  const std::size_t inside = trees.below(x).size(), cut = inside * (trees.arms(k).size() - inside);
  stuck_[x] = 1;
  skip_[x] = skipped + static_cast<int>(cut / edges_per_skip);
  return false;
}

bool EdgeReplacer::replace_alternative(const ClusteredArms& now, const Spreads& spreads, ClusterTrees& trees, Index k, Index x,
                                       Index b, double twice) {
  const Index u = trees.parent(x);
  pairs_.clear();
  note(now, spreads, u, b);
  while (const auto edge = best_edge(now, spreads, trees, k, x, u, twice)) {
    const double p = now.dist(edge->inner, edge->outer) + spreads.slack();
    const double r = spreads[edge->inner] + spreads[edge->outer];
    const Index fails = NearestBySpread::next_crossing(now, spreads, u, 0, p, r, twice);
    if (fails == now.size()) {
      trees.set_alternative(x, edge->inner, edge->outer);
      return true;
    }
    if (pairs_.size() == most_pairs) break;
    note(now, spreads, u, fails);
  }
  return false;
}

}  // namespace linkarms::psi
