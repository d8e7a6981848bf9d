// The anytime rule's statistic under a distance threshold (section 7.1 of math.md):
//
//   min( min over arms a, b of two clusters of the evidence that they are farther apart than r,
//        min over clusters of the smallest edge of a maximum spanning tree under the evidence that u, v are closer )
//
// One pair of two clusters below the level forbids a stop, and so does a cluster of which some part has no edge of at
// least the level to the rest.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "evidence/anytime.hpp"
#include "evidence/parts.hpp"
#include "evidence/threshold_pairs.hpp"

namespace linkarms {

/// `AnytimeEvidence` for a kind of evidence against pairs of arms; see evidence/threshold_pairs.hpp.
template <class Pairs>
class ThresholdEvidence final : public AnytimeEvidence {
 public:
  ThresholdEvidence(const Model& model, const Task& task, const std::vector<double>& grid, double discount)
      : pairs_(model, task, grid, discount), n_scales_(static_cast<Index>(grid.size())), scale_(n_scales_ / 4) {}

  [[nodiscard]] EvidenceUnit unit() const override { return EvidenceUnit::set; }
  [[nodiscard]] double grid_price() const override {
    return Pairs::averages_grid ? 0.0 : std::log(static_cast<double>(n_scales_));
  }
  [[nodiscard]] bool is_still_blocked(const Situation& now, double level) override;
  [[nodiscard]] bool is_blocked(const Situation& now, double level) override;
  [[nodiscard]] double statistic(const Situation& now) override;
  [[nodiscard]] double against(const Situation& now, const Witness& w, double level) override {
    return pairs_.against(now, w, level, scale_);
  }
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level) override {
    return pairs_.is_below(now, w, level, scale_);
  }
  [[nodiscard]] Witness blocker() const override { return blocker_; }
  [[nodiscard]] Index scale() const override { return scale_; }
  void set_scale(Index scale) override { scale_ = scale; }
  void rescale(const Situation& now) override {
    if (now.witness.exists() && n_scales_ > 1) scale_ = pairs_.best_scale(now, now.witness, scale_);
  }
  void sampled(const Situation& now, Index m) override { pairs_.sampled(now, m); }
  void forget() override {
    pairs_.forget();
    verdict_ = {};
    cut_ = {};
    blocker_ = {};
  }
  [[nodiscard]] std::unique_ptr<AnytimeEvidence> clone() const override { return std::make_unique<ThresholdEvidence>(*this); }

 private:
  /// A stop was forbidden from `level` on after so many samples.
  struct Verdict {
    double level = inf;
    long long samples = -1;
  };
  /// A cluster in two parts: every pair across was below `level` when its arms had these samples.
  struct Parts {
    double level = inf;
    std::vector<Index> arms;
    std::vector<char> inside;
    std::vector<long long> counts;
  };

  [[nodiscard]] bool is_edge_below(const Situation& now, const Witness& w, double level) {
    return !pairs_.is_clear(now, w, level, scale_) && pairs_.is_below(now, w, level, scale_);
  }
  [[nodiscard]] static Witness split_of(Index x, Index y) { return {std::min(x, y), std::max(x, y), -1, -1}; }
  [[nodiscard]] bool blocks(const Situation& now, const Witness& w, double level);
  [[nodiscard]] bool cut_blocks(const Situation& now, Index k, double level);
  [[nodiscard]] bool find_parts(const Situation& now, Index k, double level);

  Pairs pairs_;
  Index n_scales_, scale_;
  Witness blocker_;
  Verdict verdict_;
  Parts cut_;
  PartJoiner joiner_;
};

/// Whether the parts that are kept still forbid a stop: only pairs of arms that were sampled are looked at.
template <class Pairs>
bool ThresholdEvidence<Pairs>::cut_blocks(const Situation& now, Index k, double level) {
  const auto arms = now.partition.clusters().members(k);
  if (cut_.level > level || !std::ranges::equal(cut_.arms, arms)) return false;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (cut_.counts[i] == now.samples.count(arms[i])) continue;
    for (std::size_t j = 0; j < arms.size(); ++j) {
      if (cut_.inside[i] != cut_.inside[j] && !is_edge_below(now, split_of(arms[i], arms[j]), level)) return false;
    }
    cut_.counts[i] = now.samples.count(arms[i]);
  }
  cut_.level = level;
  return true;
}

/// The arms that hold together with the first one at `level`; whether some do not.
template <class Pairs>
bool ThresholdEvidence<Pairs>::find_parts(const Situation& now, Index k, double level) {
  const auto arms = now.partition.clusters().members(k);
  std::vector<char> inside(arms.size(), 0);
  std::vector<std::size_t> queue{0};
  inside[0] = 1;
  for (std::size_t head = 0; head < queue.size() && queue.size() < arms.size(); ++head) {
    for (std::size_t j = 0; j < arms.size(); ++j) {
      if (inside[j] || is_edge_below(now, split_of(arms[queue[head]], arms[j]), level)) continue;
      inside[j] = 1;
      queue.push_back(j);
    }
  }
  if (queue.size() == arms.size()) return false;
  cut_ = {level, {arms.begin(), arms.end()}, inside, {}};
  for (const Index m : arms) cut_.counts.push_back(now.samples.count(m));
  blocker_ = split_of(arms[0], arms[std::ranges::find(inside, 0) - inside.begin()]);
  return true;
}

template <class Pairs>
bool ThresholdEvidence<Pairs>::blocks(const Situation& now, const Witness& w, double level) {
  const Clusters& clusters = now.partition.clusters();
  if (w.is_merge() && !clusters.together(w.a, w.b)) {
    if (!is_edge_below(now, w, level)) return false;
    blocker_ = w;
    return true;
  }
  if (!w.is_split() || !clusters.together(w.u, w.v)) return false;
  const Index k = clusters.label(w.u);
  return cut_blocks(now, k, level) || find_parts(now, k, level);
}

template <class Pairs>
bool ThresholdEvidence<Pairs>::is_still_blocked(const Situation& now, double level) {
  if (verdict_.level <= level && verdict_.samples == now.samples.total()) return true;
  const Clusters& clusters = now.partition.clusters();
  const Witness w = blocker_;
  const bool merge = w.is_merge() && !clusters.together(w.a, w.b) && is_edge_below(now, w, level);
  if (!merge && !(w.is_split() && clusters.together(w.u, w.v) && cut_blocks(now, clusters.label(w.u), level))) return false;
  verdict_ = {level, now.samples.total()};
  return true;
}

template <class Pairs>
bool ThresholdEvidence<Pairs>::is_blocked(const Situation& now, double level) {
  if (is_still_blocked(now, level)) return true;
  const Clusters& clusters = now.partition.clusters();
  const auto forbids = [&] {
    // the blocker that is there, psi's witness, then all
    for (const Witness& w : {Witness(blocker_), now.witness}) {
      if (blocks(now, w, level)) return true;
    }
    for (Index k = 0; k < clusters.n_clusters(); ++k) {
      if (clusters.size(k) > 1 && find_parts(now, k, level)) return true;
    }
    for (Index a = 0; a < clusters.n_arms(); ++a) {
      for (Index b = a + 1; b < clusters.n_arms(); ++b) {
        if (!clusters.together(a, b) && blocks(now, {-1, -1, a, b}, level)) return true;
      }
    }
    return false;
  };
  if (!forbids()) return false;
  verdict_ = {level, now.samples.total()};
  return true;
}

// Merges in the order of their arms, then clusters in theirs: the first of equal ones.
template <class Pairs>
double ThresholdEvidence<Pairs>::statistic(const Situation& now) {
  const Clusters& clusters = now.partition.clusters();
  Bridge best;
  Witness where;
  double level = inf;
  if (now.witness.is_merge() && !clusters.together(now.witness.a, now.witness.b)) {
    // it stands if rounding makes it larger when it is asked for a second time, up to a level
    best = {pairs_.against(now, now.witness, inf, scale_), now.witness.a, now.witness.b};
    where = now.witness;
    level = std::nextafter(best.value, inf);
  }
  for (Index a = 0; a < clusters.n_arms(); ++a) {
    for (Index b = a + 1; b < clusters.n_arms(); ++b) {
      const Witness w{-1, -1, a, b};
      if (clusters.together(a, b) || pairs_.is_clear(now, w, level, scale_)) continue;
      const double value = pairs_.against(now, w, level, scale_);
      if (!(value < level)) continue;
      best = {value, a, b};
      where = w;
      level = value;
    }
  }
  for (Index k = 0; k < clusters.n_clusters(); ++k) {
    const auto arms = clusters.members(k);
    if (arms.size() < 2) continue;
    std::vector<Index> part(arms.size());
    std::iota(part.begin(), part.end(), 0);
    const Bridge edge = joiner_.join(arms, part, level, false, [&](Index u, Index v) {
      const Witness w = split_of(u, v);
      return pairs_.is_clear(now, w, level, scale_) ? inf : pairs_.against(now, w, level, scale_);
    });
    if (!(edge.value < level)) continue;
    best = edge;
    where = split_of(edge.u, edge.v);
    level = edge.value;
  }
  if (where.exists()) blocker_ = where;
  return best.value;
}

}  // namespace linkarms
