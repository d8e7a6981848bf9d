#include "run/cuts.hpp"

#include <algorithm>
#include <span>

namespace linkarms {
namespace {

/// The edges of a tree, each by its child, the longest first; ties by index.
std::vector<Index> by_length(const SpanningTree& tree) {
  std::vector<Index> children;
  for (Index m = 0; m < static_cast<Index>(tree.parent.size()); ++m) {
    if (tree.parent[m] >= 0) children.push_back(m);
  }
  std::ranges::sort(children,
                    [&](Index i, Index j) { return tree.length[i] != tree.length[j] ? tree.length[i] > tree.length[j] : i < j; });
  return children;
}

/// Whether the split of a cluster at its longest edge, against the shortest edge removed, forbids the cut into k clusters: all
/// pairs between the two sides have evidence below the level. Where the gap is small that decides, by one pair after the other.
bool is_forbidden_at_the_gap(const Situation& now, const SpanningTree& tree, std::span<const Index> edges, Index k,
                             AnytimeEvidence& evidence, double level) {
  const Index kept = edges[k - 1], removed = edges[k - 2];
  const auto is_below = [&](Index u, Index v) { return evidence.is_below(now, {u, v, removed, tree.parent[removed]}, level); };
  if (!is_below(kept, tree.parent[kept])) return false;
  const Clusters sides(cut_tree(tree, k + 1).labels, k + 1);
  for (const Index u : sides.members(sides.label(kept))) {
    for (const Index v : sides.members(sides.label(tree.parent[kept]))) {
      if (!is_below(u, v)) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<CertifiedCut> certified_cuts(const Situation& now, AnytimeEvidence& evidence, double level) {
  const Index n = now.samples.n_arms();
  const SpanningTree tree = minimum_spanning_tree(now.dist);
  const std::vector<Index> edges = by_length(tree);
  std::vector<CertifiedCut> found;
  for (Index k = 2; k < n; ++k) {
    Cut cut = cut_tree(tree, k);
    if (cut.ambiguous || is_forbidden_at_the_gap(now, tree, edges, k, evidence, level)) continue;
    Partition partition(n, k);
    partition.make(now.dist);
    if (evidence.is_blocked({now.samples, now.dist, partition, now.lam, {}}, level)) continue;
    found.push_back({k, std::move(cut.labels)});
  }
  return found;
}

}  // namespace linkarms
