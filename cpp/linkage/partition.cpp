#include "linkage/partition.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "math/constants.hpp"

namespace linkarms {

namespace {

/// If more than one of so many arms have been sampled since the spanning tree was made, it is made from
/// scratch.
constexpr Index share = 16;
/// The same for so few arms, however many were sampled.
constexpr Index few = 64;

}  // namespace

Partition::Partition(Index n_arms, const Task& task) : task_(task), up_(n_arms, -1), length_(n_arms, 0.0), near_(n_arms, 0.0) {
  assert(task.distance || task.largest_gap || (1 <= task.n_clusters && task.n_clusters <= n_arms));
}

std::size_t Partition::bytes() const {
  // three vectors of lengths and nine of indices, none longer than M + 1
  return (up_.size() + 1) * (3 * sizeof(double) + 9 * sizeof(Index));
}

void Partition::make(const Distances& dist) {
  too_dirty_ = true;  // there is no tree yet, or another one
  span(dist);
  cut();
  near_ = nearest_foreign(dist, clusters_);
  made_ = true;
}

// Cut the spanning tree, which is up to date, into clusters.
void Partition::cut() {
  Cut cut = cut_tree(tree_, task_);
  clusters_ = Clusters(std::move(cut.labels), cut.n_clusters);
  up_ = std::move(cut.up);
  ambiguous_ = cut.ambiguous;
  for (std::size_t m = 0; m < up_.size(); ++m) length_[m] = up_[m] >= 0 ? tree_.length[m] : 0.0;
}

bool Partition::update(const Distances& dist, Index m) {
  assert(made_);
  const std::span<const Index> labels = clusters_.labels();
  const View row = dist.row(m);
  const Index n = clusters_.n_arms(), own = labels[m];
  double longest = 0.0, shortest = inf, nearest = inf;
  near_[m] = inf;
  for (Index j = 0; j < n; ++j) {
    if (up_[j] == m || (j == m && up_[m] >= 0)) length_[j] = dist(j, up_[j]);
    longest = std::max(longest, length_[j]);
    if (labels[j] != own) {
      nearest = std::min(nearest, row[j]);
      near_[j] = std::min(near_[j], row[j]);
    }
    shortest = std::min(shortest, near_[j]);
  }
  near_[m] = nearest;
  shortest = std::min(shortest, nearest);
  if (n > few) mark_dirty(m);
  // every tree edge has to be below the limit, and every distance between two clusters above it
  const double limit = (task_.distance ? *task_.distance : longest) * (1.0 + 2.0 * tie);
  bool holds = !task_.distance || longest < *task_.distance * (1.0 - 2.0 * tie);
  if (task_.largest_gap) {  // depends on every edge
    span(dist);
    holds = largest_gap(tree_) == clusters_.n_clusters();
  }
  ambiguous_ = false;
  if (holds && (limit < shortest || certify(dist, limit))) return false;
  if (!task_.largest_gap) span(dist);
  regroup(dist);
  return true;
}

// The bounds may have become too low: those that matter are made exact.
bool Partition::certify(const Distances& dist, double limit) {
  for (Index a = 0; a < clusters_.n_arms(); ++a) {
    if (near_[a] > limit) continue;
    near_[a] = nearest_foreign(dist, clusters_, a);
    if (near_[a] <= limit) return false;
  }
  return true;
}

void Partition::mark_dirty(Index m) {
  if (too_dirty_ || std::ranges::find(dirty_, m) != dirty_.end()) return;
  if (static_cast<Index>(dirty_.size()) == clusters_.n_arms() / share) {
    too_dirty_ = true;
  } else {
    dirty_.push_back(m);
  }
}

void Partition::span(const Distances& dist) {
  if (dist.size() > few && !too_dirty_) {
    update_spanning_tree(dist, dirty_, tree_);
  } else {
    tree_ = minimum_spanning_tree(dist);
  }
  dirty_.clear();
  too_dirty_ = false;
}

// Cut the tree into other clusters than before. Arms that were together and no longer are may be near each other; bounds of
// arms that have come together stay too low until they are looked at.
void Partition::regroup(const Distances& dist) {
  before_ = std::move(clusters_);
  cut();
  Regrouping(before_, clusters_).parted(clusters_, [&](Index y, Index z) {
    near_[y] = std::min(near_[y], dist(y, z));
    near_[z] = std::min(near_[z], dist(y, z));
  });
}

}  // namespace linkarms
