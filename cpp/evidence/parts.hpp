// The smallest edge of a maximum spanning tree of a cluster of which some parts are known to hold together
// (section 2.2 of math.md).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "linkage/distances.hpp"
#include "linkage/spanning_tree.hpp"
#include "math/constants.hpp"

namespace linkarms {

/// An edge of a cluster and its evidence; infinite where it is at least the level in question.
struct Bridge {
  double value = inf;
  Index u = -1, v = -1;

  [[nodiscard]] bool exceeds(const Bridge& other) const {
    return value > other.value || (value == other.value && (other.u < 0 || precedes(u, v, other.u, other.v)));
  }
};

/// Joins the parts of a cluster by Prim's algorithm. It keeps scratch memory only.
class PartJoiner {
 public:
  /// Every arm a part of its own, or `part[i]` that of the i-th arm: parts are 0, 1, ..., the first arm is of
  /// part 0. `value(u, v)` is the evidence of an edge, of which any number from `level` on is as good as
  /// another. Returns the smallest edge of a maximum spanning tree if it is below `level`, else an infinite
  /// value. With `any` the first edge that is found to be the largest between two sides and below the level
  /// will do. Of edges with equal values the first by index is taken.
  template <class Value>
  Bridge join(std::span<const Index> arms, std::span<const Index> part, double level, bool any, Value value) {
    const std::size_t n = arms.size();
    const Index n_parts = 1 + *std::ranges::max_element(part);
    link_.assign(static_cast<std::size_t>(n_parts), {-inf});
    joined_.assign(static_cast<std::size_t>(n_parts), 0);
    queue_.clear();
    Index left = n_parts;
    const auto add = [&](Index p) {
      joined_[p] = 1;
      --left;
      for (std::size_t i = 0; i < n; ++i) {
        if (part[i] == p) queue_.push_back(i);
      }
    };
    add(0);
    Bridge smallest;
    for (std::size_t head = 0; left > 0;) {
      for (; head < queue_.size() && left > 0; ++head) {
        const std::size_t i = queue_[head];
        for (std::size_t j = 0; j < n; ++j) {
          if (joined_[part[j]]) continue;
          const Bridge found{value(arms[i], arms[j]), arms[i], arms[j]};
          if (found.value >= level) {
            add(part[j]);
          } else if (found.exceeds(link_[part[j]])) {
            link_[part[j]] = found;
          }
        }
      }
      if (left == 0) break;
      Index next = -1;
      for (Index p = 0; p < n_parts; ++p) {
        if (!joined_[p] && (next < 0 || link_[p].exceeds(link_[next]))) next = p;
      }
      if (link_[next].value < smallest.value) smallest = link_[next];
      if (any) break;
      add(next);
    }
    return smallest;
  }

  /// Marks of some parts, not all, that no edge `holds` to the others, beginning with the smallest part; nothing where all
  /// hold together.
  template <class Holds>
  std::span<const char> find_closed(std::span<const Index> arms, std::span<const Index> part, const Distances& dist,
                                    Holds holds) {
    const std::size_t n = arms.size();
    std::vector<Index> sizes(static_cast<std::size_t>(1 + *std::ranges::max_element(part)), 0);
    for (const Index p : part) ++sizes[p];
    inside_.assign(n, 0);
    queue_.clear();
    const auto add = [&](Index p) {
      for (std::size_t i = 0; i < n; ++i) {
        if (part[i] != p) continue;
        inside_[i] = 1;
        queue_.push_back(i);
      }
    };
    add(static_cast<Index>(std::ranges::min_element(sizes) - sizes.begin()));
    for (std::size_t head = 0; head < queue_.size() && queue_.size() < n; ++head) {
      const std::size_t i = queue_[head];
      const auto look = [&](std::size_t j) {
        if (!inside_[j] && holds(arms[i], arms[j])) add(part[j]);
      };
      // the nearest first: it is the most likely to hold
      const View row = dist.row(arms[i]);
      std::size_t nearest = n;
      for (std::size_t j = 0; j < n; ++j) {
        if (!inside_[j] && (nearest == n || row[arms[j]] < row[arms[nearest]])) nearest = j;
      }
      look(nearest);
      for (std::size_t j = 0; j < n; ++j) {
        if (j != nearest) look(j);
      }
    }
    return queue_.size() < n ? std::span<const char>(inside_) : std::span<const char>();
  }

 private:
  std::vector<char> inside_;
  std::vector<Bridge> link_;
  std::vector<char> joined_;
  std::vector<std::size_t> queue_;
};

}  // namespace linkarms
