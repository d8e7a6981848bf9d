#include "linkage/spanning_tree.hpp"

#include <cassert>
#include <functional>

#include "math/constants.hpp"

namespace linkarms {

SpanningTree minimum_spanning_tree(const Distances& dist) {
  struct Edge {
    double length = inf;
    Index above = -1, arm = -1;
  };
  const Index n = dist.size();
  SpanningTree tree{{}, std::vector<Index>(n, -1), std::vector<double>(n)};
  if (n > 0) tree.order.push_back(0);
  grow_tree(
      n, [&](Index i, Index j) { return Edge{dist(i, j), i, j}; },
      [](const Edge& e, const Edge& f) {
        return e.length < f.length || (e.length == f.length && precedes(e.above, e.arm, f.above, f.arm));
      },
      [&](Index m, const Edge& edge) {
        tree.order.push_back(m);
        tree.parent[m] = edge.above;
        tree.length[m] = edge.length;
      });
  return tree;
}

namespace {

/// The root of each arm, from the top down, then names in order of first appearance.
void name_clusters(const SpanningTree& tree, Cut& cut) {
  const auto n = tree.order.size();
  std::vector<Index> root(n), name(n, -1);
  for (const Index m : tree.order) root[m] = cut.up[m] < 0 ? m : root[cut.up[m]];
  for (std::size_t m = 0; m < n; ++m) {
    if (name[root[m]] < 0) name[root[m]] = cut.n_clusters++;
    cut.labels[m] = name[root[m]];
  }
}

}  // namespace

Cut cut_tree(const SpanningTree& tree, Index n_clusters) {
  const auto& [order, parent, length] = tree;
  const Index n = static_cast<Index>(order.size());
  Cut cut{.labels = std::vector<Index>(n), .up = parent, .removed = inf};
  // the K - 1 longest edges, each named by its lower end
  std::vector<Index> edges(order.begin() + 1, order.end());
  const auto end = edges.begin() + (n_clusters - 1);
  std::ranges::nth_element(edges, end, [&](Index i, Index j) {
    return length[i] > length[j] || (length[i] == length[j] && precedes(j, parent[j], i, parent[i]));
  });
  for (auto edge = edges.begin(); edge != end; ++edge) {
    cut.up[*edge] = -1;
    cut.removed = std::min(cut.removed, length[*edge]);
  }
  for (auto edge = end; edge != edges.end(); ++edge) cut.kept = std::max(cut.kept, length[*edge]);
  cut.ambiguous = n_clusters > 1 && cut.kept >= 0.0 && cut.removed <= cut.kept * (1.0 + tie);
  name_clusters(tree, cut);
  return cut;
}

Cut cut_tree_at(const SpanningTree& tree, double distance) {
  const auto& [order, parent, length] = tree;
  Cut cut{.labels = std::vector<Index>(order.size()), .up = parent, .removed = inf};
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Index m = order[i];
    if (length[m] < distance) {
      cut.kept = std::max(cut.kept, length[m]);
    } else {
      cut.up[m] = -1;
      cut.removed = std::min(cut.removed, length[m]);
    }
  }
  cut.ambiguous = cut.removed <= distance * (1.0 + tie) || cut.kept >= distance * (1.0 - tie);
  name_clusters(tree, cut);
  return cut;
}

Index largest_gap(const SpanningTree& tree) {
  assert(tree.order.size() >= 3);
  std::vector<double> heights;
  for (std::size_t i = 1; i < tree.order.size(); ++i) heights.push_back(tree.length[tree.order[i]]);
  std::ranges::sort(heights, std::greater{});
  std::size_t best = 0;
  for (std::size_t i = 1; i + 1 < heights.size(); ++i) {
    if (heights[i] - heights[i + 1] > heights[best] - heights[best + 1]) best = i;
  }
  return static_cast<Index>(best) + 2;
}

Cut cut_tree(const SpanningTree& tree, const Task& task) {
  if (task.distance) return cut_tree_at(tree, *task.distance);
  return cut_tree(tree, task.largest_gap ? largest_gap(tree) : task.n_clusters);
}

}  // namespace linkarms
