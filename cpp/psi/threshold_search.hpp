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

namespace linkarms::psi {

template <class Problem>
class ThresholdSearch final : public Search {
 public:
  ThresholdSearch(const Model& model, const Task& task);

  PsiAnswer at(const Matrix& theta, const Distances& dist, const Partition& partition, View weights, std::optional<Index> moved,
               Matrix& lam, MutView kl) override {
    return find(theta, dist, partition.clusters(), weights, moved, lam, kl);
  }
  /// Arms whose clusters have other arms now get a new row and a new tree at the next call.
  void partition_changed(const Matrix&, const Distances&, const Partition& partition) override;
  void forget() override { fits_ = false; }
  [[nodiscard]] std::unique_ptr<Search> clone() const override { return std::make_unique<ThresholdSearch>(*this); }
  [[nodiscard]] long long costs_evaluated() const override { return evaluated_; }
  [[nodiscard]] std::size_t bytes() const override;

  PsiAnswer find(const Matrix& theta, const Distances& dist, const Clusters& clusters, View weights, std::optional<Index> moved,
                 Matrix& lam, MutView kl);

 private:
  /// The arms as they are now.
  struct Ground {
    const Matrix& theta;
    const Distances& dist;
    const Clusters& clusters;
  };
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

  /// Whether only the weight of `moved` has changed.
  bool weigh(const Ground& ground, View weights, std::optional<Index> moved);
  [[nodiscard]] double merge(const Ground& ground, Index x, Index y, double level);
  [[nodiscard]] double split(const Ground& ground, Index x, Index y, double level = inf);
  void make(const Ground& ground);
  void grow_tree(const Ground& ground, std::span<const Index> arms);
  void scan_row(const Ground& ground, Index a);
  void move(const Ground& ground, Index m);
  void regroup(const Ground& ground);
  [[nodiscard]] EdgeCost nearest_merge(const Ground& ground);
  [[nodiscard]] EdgeCost smallest_split(const Ground& ground, double level);
  void look_across(const Ground& ground, Index x);
  void exchange(const Ground& ground, Index x, const Edge& edge);

  const Model* model_;
  Problem problem_;
  std::vector<double> weight_, spread_;  ///< no zeros
  bool raised_ = false;                  ///< some weight is not the one that was given
  std::vector<Nearest> merges_;
  std::vector<Link> links_;
  std::optional<KnownCut> cut_;
  std::vector<char> regrouped_;  ///< of each arm: its cluster has changed since the last call; empty: none has
  bool fits_ = false;            ///< what is kept is that of the last call
  long long evaluated_ = 0;
};

}  // namespace linkarms::psi
