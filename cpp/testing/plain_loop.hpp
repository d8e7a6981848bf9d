// The step of a run as a plain loop over all pairs of pairs, for Gaussian arms of unit variance: nothing is
// pruned, nothing is kept of the partition or of the costs. Tests compare the search with it, benchmarks time
// both. It shares the formulas of one pair problem, of distances and of the threshold with the core, and no
// search.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "family/model.hpp"
#include "linkage/partition.hpp"
#include "pair/isotropic.hpp"
#include "psi/search.hpp"
#include "run/threshold.hpp"

namespace linkarms::testing {

/// psi and its witness by looking at everything: over all inter pairs (a, b) and all clusters, the least
/// bottleneck, which is the smallest edge of the cluster's maximum spanning tree under cost(.; a, b).
class PlainSearch {
 public:
  [[nodiscard]] PsiAnswer find(const Distances& dist, const Clusters& clusters, View spread) {
    PsiAnswer best{std::numeric_limits<double>::infinity(), {}};
    for (Index a = 0; a < clusters.n_arms(); ++a) {
      for (Index b = a + 1; b < clusters.n_arms(); ++b) {
        if (clusters.together(a, b)) continue;
        for (Index k = 0; k < clusters.n_clusters(); ++k) {
          const std::span<const Index> members = clusters.members(k);
          if (members.size() == 2) {
            keep_less(best, dist, spread, Witness{members[0], members[1], a, b}.oriented());
          } else if (members.size() > 2) {
            const PsiAnswer found = bottleneck(dist, spread, members, a, b);
            if (found.value < best.value) best = found;
          }
        }
      }
    }
    return best;
  }

 private:
  static void keep_less(PsiAnswer& best, const Distances& dist, View spread, const Witness& w) {
    const double cost = isotropic_cost(dist, spread, w);
    if (cost < best.value) best = {cost, w};
  }

  /// Prim's algorithm from the first member.
  PsiAnswer bottleneck(const Distances& dist, View spread, std::span<const Index> members, Index a, Index b) {
    constexpr double joined = -2.0, nothing = -1.0;
    near_.assign(members.size(), {nothing, {}});
    near_[0].value = joined;
    PsiAnswer smallest{std::numeric_limits<double>::infinity(), {}};
    for (std::size_t size = 1, last = 0; size < members.size(); ++size) {
      std::size_t next = 0;
      for (std::size_t j = 1; j < members.size(); ++j) {
        if (near_[j].value == joined) continue;
        const Witness w = Witness{members[last], members[j], a, b}.oriented();
        const double cost = isotropic_cost(dist, spread, w);
        if (cost > near_[j].value) near_[j] = {cost, w};
        if (near_[j].value > near_[next].value) next = j;
      }
      if (near_[next].value < smallest.value) smallest = near_[next];
      near_[next].value = joined;
      last = next;
    }
    return smallest;
  }

  std::vector<PsiAnswer> near_;  ///< of each member the most expensive edge to the tree
};

/// A run of EBC-H under the paper's rule.
class PlainLoop {
 public:
  PlainLoop(std::shared_ptr<const Model> model, Index n_clusters, PaperStop stop, Matrix box, std::vector<double> counts,
            Matrix means)
      : model_(std::move(model)),
        n_clusters_(n_clusters),
        stop_(stop),
        box_(std::move(box)),
        counts_(std::move(counts)),
        means_(std::move(means)),
        theta_(means_),
        dist_(means_.rows()),
        spread_(counts_.size()),
        penalty_(counts_.size()),
        kl_(counts_.size()) {
    for (Index m = 0; m < n_arms(); ++m) follow(m);
    for (Index m = 0; m < n_arms(); ++m) dist_.update(theta_, m);
  }

  /// Take in one sample of arm m; psi, and the KL of each arm at its minimiser.
  double observe(Index m, View statistic) {
    counts_[m] += 1.0;
    for (Index i = 0; i < n_features(); ++i) means_(m, i) += (statistic[i] - means_(m, i)) / counts_[m];
    follow(m);
    dist_.update(theta_, m);
    const Clusters clusters(cut_tree(minimum_spanning_tree(dist_), n_clusters_).labels, n_clusters_);
    const auto [value, w] = search_.find(dist_, clusters, spread_);
    Matrix lam = theta_;
    isotropic_solution(theta_, dist_, spread_, w, lam);
    std::ranges::fill(kl_, 0.0);
    for (const Index j : {w.u, w.v, w.a, w.b}) kl_[j] = model_->arm(j).kl(theta_.row(j), lam.row(j));
    return value;
  }

  /// The next arm: forced exploration, then the arm of the largest KL. Ties break by index.
  [[nodiscard]] Index choose() const {
    const auto fewest = std::ranges::min_element(counts_);
    if (*fewest < std::sqrt(sum(counts_) / n_arms())) return static_cast<Index>(fewest - counts_.begin());
    return static_cast<Index>(std::ranges::max_element(kl_) - kl_.begin());
  }

  [[nodiscard]] View kl() const { return kl_; }
  /// The threshold without log(1/delta).
  [[nodiscard]] double base() const { return sum(penalty_); }
  [[nodiscard]] Index n_arms() const { return theta_.rows(); }
  [[nodiscard]] Index n_features() const { return theta_.cols(); }

 private:
  static double sum(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); }

  /// The estimate, the spread and the part of the threshold of an arm with new counts and means.
  void follow(Index m) {
    for (Index i = 0; i < n_features(); ++i) theta_(m, i) = std::clamp(means_(m, i), box_(i, 0), box_(i, 1));
    spread_[m] = 1.0 / counts_[m];
    penalty_[m] = paper_penalty(*model_, m, theta_.row(m), counts_[m], stop_);
  }

  std::shared_ptr<const Model> model_;
  Index n_clusters_;
  PaperStop stop_;
  Matrix box_;
  std::vector<double> counts_;
  Matrix means_, theta_;
  Distances dist_;
  PlainSearch search_;
  std::vector<double> spread_, penalty_, kl_;
};

}  // namespace linkarms::testing
