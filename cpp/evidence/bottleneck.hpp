// The anytime rule's statistic and the candidate that forbids a stop, whatever the kind of evidence.
//
// A stop is decided by `is_blocked`: every piece is proved to reach the level, or one candidate forbids it. The statistic
// is for reports. Where each piece takes long to prove there may be millions of them, so a kind of evidence that counts its
// work has `most_work` for one statistic. When that is used up, pieces that are left count with the bound that their
// lengths give (`SpreadBounds`). So the statistic is never above the bottleneck of the proved values, is equal to it
// where the work is enough, and is a function of the situation alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "evidence/parts.hpp"
#include "evidence/survey.hpp"

namespace linkarms {

/// `AnytimeEvidence` for a kind of evidence against pairs of pairs; see evidence/pairs.hpp for what that is.
template <class Pairs>
class BottleneckEvidence final : public AnytimeEvidence {
 public:
  /// What `Pairs` needs besides follows.
  template <class... More>
  BottleneckEvidence(const Model& model, const std::vector<double>& grid, double discount, More... more)
      : pairs_(model, grid, discount, more...), n_scales_(static_cast<Index>(grid.size())), scale_(n_scales_ / 4) {}

  [[nodiscard]] EvidenceUnit unit() const override { return Pairs::unit; }
  [[nodiscard]] double grid_price() const override {
    return Pairs::averages_grid ? 0.0 : std::log(static_cast<double>(n_scales_));
  }
  [[nodiscard]] bool is_blocked(const Situation& now, double level) override;
  [[nodiscard]] double statistic(const Situation& now) override;
  [[nodiscard]] double against(const Situation& now, const Witness& w, double level) override {
    return pairs_.against(now, w.oriented(), level, scale_);
  }
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level) override {
    return pairs_.is_below(now, w.oriented(), level, scale_);
  }
  [[nodiscard]] Witness blocker() const override { return blocker_; }
  [[nodiscard]] Index scale() const override { return scale_; }
  void set_scale(Index scale) override { scale_ = scale; }
  void rescale(const Situation& now) override {
    if (now.witness.exists() && n_scales_ > 1) scale_ = pairs_.best_scale(now, now.witness.oriented(), scale_);
  }
  void sampled(const Situation& now, Index m) override { pairs_.sampled(now, m); }
  void forget() override {
    pairs_.forget();
    verdict_ = {};
    blocker_ = {};
  }
  [[nodiscard]] std::unique_ptr<AnytimeEvidence> clone() const override { return std::make_unique<BottleneckEvidence>(*this); }

 private:
  /// What is known of the blocker: it forbids a stop from `level` on as long as the cluster has these arms,
  /// and these arms these samples.
  struct Verdict {
    double level = inf;
    std::vector<Index> cluster;
    std::vector<long long> counts;  ///< of the cluster's arms, then of the pair's
  };

  [[nodiscard]] static bool is_candidate(const Clusters& clusters, const Witness& w) {
    return w.exists() && clusters.together(w.u, w.v) && !clusters.together(w.a, w.b);
  }
  [[nodiscard]] static Candidate candidate_of(const Clusters& clusters, const Witness& w) {
    return {std::min(w.a, w.b), std::max(w.a, w.b), clusters.label(w.u), 0.0};
  }
  [[nodiscard]] static Witness edge_of(const Bridge& edge, const Candidate& c) {
    return {std::min(edge.u, edge.v), std::max(edge.u, edge.v), c.a, c.b};
  }
  [[nodiscard]] bool stands(const Situation& now, double level) const;
  [[nodiscard]] bool blocks(const Situation& now, const Candidate& c, double level);
  void remember(const Situation& now, const Candidate& c, const Witness& w, double level);
  /// The smallest edge of a maximum spanning tree if it is below `level`, else infinite.
  [[nodiscard]] Bridge bottleneck(const Situation& now, const Candidate& c, double level, bool any);
  /// Where the bottleneck of psi's witness is; nothing if there is no such candidate.
  [[nodiscard]] Bridge begin(const Situation& now);
  /// Evidence against an edge for the statistic.
  [[nodiscard]] double edge_value(const Situation& now, const Witness& w, double level) {
    return is_spent() ? survey_.lower(now, w, level) : pairs_.against(now, w.oriented(), level, scale_);
  }
  /// Whether this statistic has done the work that it may do.
  [[nodiscard]] bool is_spent() const {
    if constexpr (requires { pairs_.work(); }) return surveyed_ && pairs_.work() >= limit_;
    return false;
  }
  /// Parts of the cluster: by the survey where it was made for such a level, else every arm for itself.
  Index find_parts(const Situation& now, const Candidate& c, double level, bool surveyed);

  Pairs pairs_;
  Index n_scales_, scale_;
  Witness blocker_;
  Verdict verdict_;
  Survey survey_;
  long long limit_ = 0;    ///< of the work of `pairs_`
  bool surveyed_ = false;  ///< the survey belongs to this question
  PartJoiner joiner_;
  std::vector<Index> part_;
};

template <class Pairs>
bool BottleneckEvidence<Pairs>::stands(const Situation& now, double level) const {
  const Clusters& clusters = now.partition.clusters();
  if (verdict_.level > level || !is_candidate(clusters, blocker_)) return false;
  if (!std::ranges::equal(verdict_.cluster, clusters.members(clusters.label(blocker_.u)))) return false;
  auto count = verdict_.counts.begin();
  for (const Index m : verdict_.cluster) {
    if (*count++ != now.samples.count(m)) return false;
  }
  return *count == now.samples.count(blocker_.a) && *std::next(count) == now.samples.count(blocker_.b);
}

template <class Pairs>
void BottleneckEvidence<Pairs>::remember(const Situation& now, const Candidate& c, const Witness& w, double level) {
  const auto arms = now.partition.clusters().members(c.k);
  blocker_ = w;
  verdict_.level = level;
  verdict_.cluster.assign(arms.begin(), arms.end());
  verdict_.counts.clear();
  for (const Index m : arms) verdict_.counts.push_back(now.samples.count(m));
  for (const Index m : {w.a, w.b}) verdict_.counts.push_back(now.samples.count(m));
}

template <class Pairs>
Index BottleneckEvidence<Pairs>::find_parts(const Situation& now, const Candidate& c, double level, bool surveyed) {
  if (surveyed) return survey_.split(now, c.k, c.a, c.b, level, part_);
  const Index n = now.partition.clusters().size(c.k);
  part_.resize(static_cast<std::size_t>(n));
  std::iota(part_.begin(), part_.end(), 0);
  return n;
}

template <class Pairs>
Bridge BottleneckEvidence<Pairs>::bottleneck(const Situation& now, const Candidate& c, double level, bool any) {
  if (find_parts(now, c, level, surveyed_) == 1) return {};
  return joiner_.join(now.partition.clusters().members(c.k), part_, level, any,
                      [&](Index u, Index v) { return edge_value(now, {std::min(u, v), std::max(u, v), c.a, c.b}, level); });
}

template <class Pairs>
bool BottleneckEvidence<Pairs>::blocks(const Situation& now, const Candidate& c, double level) {
  if (find_parts(now, c, level, surveyed_) == 1) return false;
  const Bridge edge = joiner_.join(now.partition.clusters().members(c.k), part_, level, true, [&](Index u, Index v) {
    const Witness w = Witness{std::min(u, v), std::max(u, v), c.a, c.b}.oriented();
    return pairs_.is_below(now, w, level, scale_) ? -inf : inf;
  });
  if (edge.value == inf) return false;
  const auto arms = now.partition.clusters().members(c.k);
  remember(now, c, {arms[0], arms[1], c.a, c.b}, level);
  return true;
}

template <class Pairs>
bool BottleneckEvidence<Pairs>::is_blocked(const Situation& now, double level) {
  if (stands(now, level)) return true;
  verdict_.level = inf;
  surveyed_ = false;
  const Clusters& clusters = now.partition.clusters();
  // the blocker that is there, psi's witness, and all that may be below the level
  for (const Witness& w : {Witness(blocker_), now.witness}) {
    if (is_candidate(clusters, w) && blocks(now, candidate_of(clusters, w), level)) return true;
  }
  survey_.make(now, pairs_.bounds(now, level, scale_, blocker_), level);
  surveyed_ = true;
  std::vector<Candidate> all = survey_.candidates(now);
  std::ranges::sort(all, [](const auto& x, const auto& y) { return x.lacks_more(y); });
  return std::ranges::any_of(all, [&](const Candidate& c) { return blocks(now, c, level); });
}

template <class Pairs>
Bridge BottleneckEvidence<Pairs>::begin(const Situation& now) {
  const Clusters& clusters = now.partition.clusters();
  Bridge found;
  if (!is_candidate(clusters, now.witness)) return found;
  // its own evidence is near the bottleneck; where that is higher, the level goes up
  double level = pairs_.against(now, now.witness.oriented(), inf, scale_);
  while (found.value == inf && level < inf) {
    level = std::nextafter(level, inf);
    survey_.make(now, pairs_.bounds(now, level, scale_, now.witness), level);
    surveyed_ = true;
    found = bottleneck(now, candidate_of(clusters, now.witness), level, false);
    level += 1.0 + 0.25 * std::abs(level);
  }
  return found;
}

template <class Pairs>
double BottleneckEvidence<Pairs>::statistic(const Situation& now) {
  verdict_.level = inf;
  surveyed_ = false;
  if constexpr (requires { pairs_.work(); }) limit_ = pairs_.work() + Pairs::most_work;
  // the nearer the level is to the answer, the fewer candidates are left
  Bridge best = begin(now);
  std::optional<Candidate> where;
  if (best.value < inf) where = candidate_of(now.partition.clusters(), now.witness);
  const auto order = [](const Candidate& x, const Candidate& y) { return x.precedes(y); };
  std::set<Candidate, decltype(order)> done(order);  // what has been compared with the best of its time
  std::vector<Candidate> all;
  for (bool again = best.value > -inf; again;) {
    const double start = best.value, level = std::nextafter(start, inf);
    survey_.make(now, pairs_.bounds(now, level, scale_, where ? edge_of(best, *where) : Witness{}), level);
    surveyed_ = true;
    all = survey_.candidates(now);
    again = false;
    // where the first few of many bring the level down, fewer are left at the new one
    const auto few = std::min<std::ptrdiff_t>(std::ssize(all), 8);
    std::ranges::partial_sort(all, all.begin() + few, [](const auto& x, const auto& y) { return x.lacks_more(y); });
    for (std::ptrdiff_t i = 0; i < std::ssize(all) && !again; ++i) {
      const Candidate& c = all[static_cast<std::size_t>(i)];
      if (!done.insert(c).second) continue;
      const Bridge found = bottleneck(now, c, best.value, false);
      if (found.value < best.value) {
        best = found;
        where = c;
      }
      again = best.value < start && all.size() > 1000 && (i == few || i % 1024 == 1023);
    }
  }
  // equal values are decided by the order of candidates, not by where the search began
  std::ranges::sort(all, [](const auto& x, const auto& y) { return x.precedes(y); });
  for (const Candidate& c : all) {
    if (!where || !c.precedes(*where)) break;
    if (bottleneck(now, c, std::nextafter(best.value, inf), true).value == inf) continue;
    where = c;
    break;
  }
  if (where) {
    // the edge, however the search came to it: the first of those that are no larger
    const Bridge edge = bottleneck(now, *where, std::nextafter(best.value, inf), true);
    blocker_ = edge_of(edge.u >= 0 ? edge : best, *where);
  }
  return best.value;
}

}  // namespace linkarms
