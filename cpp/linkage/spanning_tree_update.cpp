// A minimum spanning tree after the distances of a few arms have changed, without looking at all distances
// again.
//
// The arms that changed are taken out of the tree. What remains are edges of the minimum spanning tree of the
// other arms, whose distances are as before; what fell apart is joined again, and the arms come back one by
// one.
#include <algorithm>
#include <array>

#include "linkage/spanning_tree.hpp"
#include "math/constants.hpp"

namespace linkarms {

namespace {

/// Distances that are compared with the shortest so far in one go: a loop of fixed length and no branches
/// becomes vector instructions.
constexpr Index block = 16;
/// In `component_`: the arm is not in the tree.
constexpr Index outside = -1;

class Repair {
 public:
  Repair(const Distances& dist, SpanningTree& tree) : dist_(dist), tree_(tree), component_(dist.size(), 0) {}

  void run(std::span<const Index> dirty) {
    for (const Index z : dirty) component_[z] = outside;
    take_out();
    for (std::size_t i = 1; i < sizes_.size(); ++i) reconnect();
    for (const Index z : dirty) {
      if (component_[z] != outside) continue;  // an arm may be listed twice
      component_[z] = 0;
      insert(z);
    }
  }

 private:
  /// The shortest edge found so far that leaves a component; none: inner is negative.
  struct Link {
    Index inner = -1, outer = -1;
    double length = inf;
  };

  /// An edge of the tree that an arm is inserted into: from `arm` to its parent, or to the new arm.
  struct Edge {
    Index arm;
    bool to_new;
  };

  /// Take the arms outside out of the tree and name the components.
  void take_out() {
    auto& [order, parent, length] = tree_;
    for (const Index m : order) {
      const Index p = parent[m];
      if (component_[m] == outside) continue;
      order[in_tree_++] = m;
      if (p >= 0 && component_[p] != outside) {
        component_[m] = component_[p];
      } else {
        parent[m] = -1, length[m] = 0.0;
        component_[m] = static_cast<Index>(sizes_.size());
        sizes_.push_back(0);
      }
      ++sizes_[component_[m]];
    }
  }

  /// Join the smallest component to another by the shortest edge that leaves it.
  void reconnect() {
    auto& [order, parent, length] = tree_;
    Index own = -1;
    for (Index c = 0; c < static_cast<Index>(sizes_.size()); ++c) {
      if (sizes_[c] > 0 && (own < 0 || sizes_[c] < sizes_[own])) own = c;
    }
    // its members leave the order, and return behind all others, to one of which they will be joined
    std::vector<Index> members;
    Index left = 0;
    Link link;
    for (Index i = 0; i < in_tree_; ++i) {
      const Index m = order[i];
      if (component_[m] == own) {
        members.push_back(m);
        shorten(link, m, own);
      } else {
        order[left++] = m;
      }
    }
    const Index joined = component_[link.outer];
    place_path(link.inner, link.outer, link.length, [&](Index m) {
      order[left++] = m;
      component_[m] = joined;
      return parent[m];
    });
    for (const Index m : members) {
      if (component_[m] != joined) order[left++] = m;
      component_[m] = joined;
    }
    sizes_[joined] += sizes_[own];
    sizes_[own] = 0;
  }

  /// Turn the path from `m` to the top of its part round, so that `m` hangs from `above`. `place(arm)` takes
  /// each arm and says which one was above it.
  template <class Place>
  void place_path(Index m, Index above, double span, Place place) {
    while (m >= 0) {
      const Index up = place(m);
      tree_.parent[m] = above;
      std::swap(tree_.length[m], span);
      above = m;
      m = up;
    }
  }

  /// Make `link` the first of itself and all edges from arm m to arms of other components than `own`.
  void shorten(Link& link, Index m, Index own) const {
    const View row = dist_.row(m);
    const Index n = dist_.size();
    for (Index start = 0; start < n; start += block) {
      const Index stop = std::min(start + block, n);
      if (stop - start == block) {
        int hits = 0;
        for (Index j = start; j < start + block; ++j) hits += row[j] <= link.length;
        if (hits == 0) continue;
      }
      for (Index j = start; j < stop; ++j) {
        if (row[j] > link.length || component_[j] == outside || component_[j] == own) continue;
        if (link.inner < 0 || row[j] < link.length || precedes(m, j, link.inner, link.outer)) link = {m, j, row[j]};
      }
    }
  }

  /// Add arm z to the tree and make it the root, after Chin and Houck (1978). From the leaves up,
  /// `longest[m]` is the longest edge of the path from m to z in the tree of z and the arms below m, with m.
  void insert(Index z) {
    auto& [order, parent, length] = tree_;
    const Index n = dist_.size();
    const View row = dist_.row(z);
    std::vector<Edge> longest(n);
    std::vector<double> best(row.begin(), row.end());
    std::array<std::vector<bool>, 2> gone{std::vector<bool>(n), std::vector<bool>(n)};  // by Edge::to_new
    for (Index m = 0; m < n; ++m) longest[m] = {m, true};
    const auto first = [&](Edge e, Edge f) {
      return precedes(e.arm, e.to_new ? z : parent[e.arm], f.arm, f.to_new ? z : parent[f.arm]);
    };
    for (Index i = in_tree_ - 1; i > 0; --i) {
      const Index m = order[i], p = parent[m];
      // m and p are joined to z and to each other: the longest edge of that cycle goes
      double d = best[m];
      Edge e = longest[m];
      if (d < length[m] || (d == length[m] && first(e, {m, false}))) d = length[m], e = {m, false};
      if (d < best[p] || (d == best[p] && first(e, longest[p]))) {
        gone[longest[p].to_new][longest[p].arm] = true;
        best[p] = d, longest[p] = e;
      } else {
        gone[e.to_new][e.arm] = true;
      }
    }
    // what is left of the old tree hangs from z by one edge per part; its path from the old top is turned
    // round
    std::vector<Index> placed{z};
    std::vector<bool> is_placed(n);
    for (Index i = 0; i < in_tree_; ++i) {
      const Index m = order[i];
      if (gone[true][m]) continue;
      place_path(m, z, row[m], [&](Index x) {
        placed.push_back(x);
        is_placed[x] = true;
        return gone[false][x] ? -1 : parent[x];
      });
    }
    // all others keep their parents, and so their order
    for (Index i = 0; i < in_tree_; ++i) {
      if (!is_placed[order[i]]) placed.push_back(order[i]);
    }
    std::ranges::copy(placed, order.begin());
    parent[z] = -1, length[z] = 0.0;
    ++in_tree_;
  }

  const Distances& dist_;
  SpanningTree& tree_;
  Index in_tree_ = 0;             ///< arms in the tree: the first ones of `order`
  std::vector<Index> component_;  ///< of each arm, or `outside`
  std::vector<Index> sizes_;      ///< of the components; 0 where one has been joined to another
};

}  // namespace

void update_spanning_tree(const Distances& dist, std::span<const Index> dirty, SpanningTree& tree) {
  Repair(dist, tree).run(dirty);
}

}  // namespace linkarms
