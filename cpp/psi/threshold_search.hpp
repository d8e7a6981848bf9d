// psi under a distance threshold (section 7.1 of math.md), found incrementally.
//
//   psi = min( min over arms a, b of two clusters of merge(a,b),
//              min over clusters of the smallest edge of a maximum spanning tree under split )
//
// Ties go to merges, then to the smallest arms; of two edges that cost the same the first counts as the more
// expensive. What is kept are bounds: of each arm the least merge, a lower bound where its best partner was sampled;
// a spanning tree of each cluster, whose smallest edge is a lower bound; and of the last cut that was looked at an
// upper bound of all other edges across it. A sample of one arm changes its own row, and the answer needs a
// look at a few others.
#pragma once

#include <optional>
#include <vector>

#include "pair/two_arms.hpp"
#include "psi/candidate.hpp"
#include "psi/search.hpp"
#include "psi/spreads.hpp"

namespace linkarms::psi {

template <class Problem>
class ThresholdSearch final : public Search {
 public:
  ThresholdSearch(const Model& model, const Task& task);

  PsiAnswer find(const ClusteredArms& now, View weights, std::optional<Index> moved, Matrix& lam, MutView kl) override;
  /// Arms whose clusters have other arms now get a new row and a new tree at the next call.
  void partition_changed(const ClusteredArms& now, const Clusters& before) override;
  void forget() override { fits_ = false; }
  [[nodiscard]] std::unique_ptr<Search> clone() const override { return std::make_unique<ThresholdSearch>(*this); }
  [[nodiscard]] long long costs_evaluated() const override { return evaluated_; }
  [[nodiscard]] std::size_t bytes() const override;

 private:
  /// An arm's least merge and its partner; a lower bound, with no partner, where `stale`.
  struct Nearest {
    double value = inf;
    Index other = -1;
    bool stale = true;
  };
  /// The edge of an arm to its parent in the tree of its cluster, and its cost; a lower bound of it where `rough`.
  struct Link {
    Index up = -1;
    double cost = 0.0;
    bool rough = false;
  };
  /// A cut of one cluster at a tree edge, and the most expensive edge across it besides that one, or more.
  struct KnownCut {
    Edge edge;
    EdgeCost others{-inf, {}};
    std::vector<char> inside;  ///< of each arm: below the edge
  };

  [[nodiscard]] Weighted at(const ClusteredArms& now) const {
    return {now.theta, now.dist, spreads_.weights(), spreads_.values()};
  }
  [[nodiscard]] double merge(const ClusteredArms& now, Index x, Index y, double level);
  [[nodiscard]] double split(const ClusteredArms& now, Index x, Index y, double level = inf);
  void make(const ClusteredArms& now);
  void grow_tree(const ClusteredArms& now, std::span<const Index> arms);
  void scan_row(const ClusteredArms& now, Index a);
  void move(const ClusteredArms& now, Index m);
  void regroup(const ClusteredArms& now);
  [[nodiscard]] EdgeCost nearest_merge(const ClusteredArms& now);
  [[nodiscard]] EdgeCost smallest_split(const ClusteredArms& now, double level);
  void look_across(const ClusteredArms& now, Index x);
  void exchange(const ClusteredArms& now, Index x, const Edge& edge);

  const Model* model_;
  Problem problem_;
  Spreads spreads_;
  std::vector<Nearest> merges_;
  std::vector<Link> links_;
  std::optional<KnownCut> cut_;
  std::vector<char> regrouped_;  ///< of each arm: its cluster has changed since the last call; empty: none has
  bool fits_ = false;            ///< what is kept is that of the last call
  long long evaluated_ = 0;
};

}  // namespace linkarms::psi
