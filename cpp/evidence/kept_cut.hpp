// The cut that forbids a stop, kept from sample to sample.
//
// A candidate (D_k, a, b) is below a level iff D_k falls into two parts with every edge across below it. One that was found
// goes on forbidding a stop for many samples: after one of arm m only the edges of m across it can have changed, or all of
// them where m is a or b. Mostly one part is a single arm, or a few.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "evidence/anytime.hpp"
#include "math/constants.hpp"

namespace linkarms {

/// A part of a cluster, and a pair of arms of different clusters, against which no edge that leaves the part reached
/// `level` when the arms had the counts that are kept with it. What it holds is a cache: `blocks` looks at all that has
/// changed since.
class KeptCut {
 public:
  [[nodiscard]] bool exists() const { return !part_.empty(); }
  [[nodiscard]] Index a() const { return a_; }
  [[nodiscard]] Index b() const { return b_; }
  /// The arms of the part, which is not empty, and the first arm of its cluster that is not in it.
  [[nodiscard]] std::span<const Index> part() const { return part_; }
  void forget() { part_.clear(); }

  /// Whether it forbids a stop at `level`. `is_below(u, v)`: whether the evidence against an edge and the pair is. Where it
  /// does not, the part grows by up to `most_more` arms, as long as that may help; there is no cut if nothing does.
  template <class IsBelow>
  bool blocks(const Situation& now, double level, std::size_t most_more, IsBelow is_below) {
    if (part_.empty()) return false;
    const Clusters& clusters = now.partition.clusters();
    const Index k = clusters.label(part_.front());
    const bool all = level < level_ || count_a_ != now.samples.count(a_) || count_b_ != now.samples.count(b_);
    // what has left the cluster is of no account; should it come back, nothing is known of it
    for (Index m = 0; m < clusters.n_arms(); ++m) {
      if (clusters.label(m) != k || all) seen_[m] = -1;
    }
    std::erase_if(part_, [&](Index m) { return clusters.label(m) != k; });
    const auto known = [&](Index m) { return seen_[m] == now.samples.count(m); };
    return !clusters.together(a_, b_) && grow(now, k, level, part_.size() + most_more, known, is_below);
  }

  /// Whether a part of cluster k that contains `seed`, and at most so many arms, forbids a stop; it is kept.
  template <class IsBelow>
  bool find(const Situation& now, const Witness& of, Index seed, double level, std::size_t most, IsBelow is_below) {
    a_ = of.a;
    b_ = of.b;
    part_.assign(1, seed);
    return grow(now, now.partition.clusters().label(seed), level, most, [](Index) { return false; }, is_below);
  }

  /// Keep a cut that was found in another way: `inside` marks the arms of one part in the order of cluster k.
  void keep(const Situation& now, Index k, Index a, Index b, std::span<const char> inside, double level) {
    const auto arms = now.partition.clusters().members(k);
    const auto marked = std::ranges::count_if(inside, [](char x) { return x != 0; });
    const bool smaller = 2 * marked <= std::ssize(inside);
    a_ = a;
    b_ = b;
    part_.clear();
    for (std::size_t i = 0; i < arms.size(); ++i) {
      if ((inside[i] != 0) == smaller) part_.push_back(arms[i]);
    }
    note(now, k, level);
  }

 private:
  /// Adds arms to the part until every edge that leaves it is below the level. Edges between an arm of the part as it was
  /// and one outside of it need no look where both are `known`.
  template <class Known, class IsBelow>
  bool grow(const Situation& now, Index k, double level, std::size_t most, Known known, IsBelow is_below) {
    const auto arms = now.partition.clusters().members(k);
    inside_.assign(static_cast<std::size_t>(now.partition.clusters().n_arms()), 0);
    for (const Index m : part_) inside_[m] = 1;
    const std::size_t before = part_.size();
    for (std::size_t head = 0; head < part_.size() && part_.size() <= most && part_.size() < arms.size(); ++head) {
      const Index x = part_[head];
      const bool old = head < before && known(x);
      for (const Index y : arms) {
        if (inside_[y] || (old && known(y)) || is_below(x, y)) continue;
        inside_[y] = 1;
        part_.push_back(y);
      }
    }
    if (part_.size() > most || part_.size() >= arms.size()) {
      part_.clear();
      return false;
    }
    note(now, k, level);
    return true;
  }

  void note(const Situation& now, Index k, double level) {
    level_ = level;
    count_a_ = now.samples.count(a_);
    count_b_ = now.samples.count(b_);
    seen_.assign(static_cast<std::size_t>(now.samples.n_arms()), -1);
    for (const Index m : now.partition.clusters().members(k)) seen_[m] = now.samples.count(m);
  }

  Index a_ = -1, b_ = -1;
  std::vector<Index> part_;
  double level_ = inf;
  long long count_a_ = 0, count_b_ = 0;
  std::vector<long long> seen_;  ///< of arms of the cluster: their counts when the edges across were last looked at
  std::vector<char> inside_;     ///< scratch
};

}  // namespace linkarms
