// The anytime rule's statistic and the candidate that forbids a stop, whatever the kind of evidence.
//
// A stop is decided by `is_blocked`: every piece is proved to reach the level, or one candidate forbids it. The statistic
// is for reports. There may be millions of pieces, so a kind of evidence can bound the work for one statistic (`most_work`
// edges, or what it counts itself). What is left counts with what its lengths are sure to give (`SpreadBounds`). So the
// statistic is never above the bottleneck of the proved values, is equal to it where the work is enough, and is a function of
// the situation alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "evidence/kept_cut.hpp"
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
  [[nodiscard]] bool is_still_blocked(const Situation& now, double level) override {
    return cut_.blocks(now, level, few_more, known_below(now, Witness{-1, -1, cut_.a(), cut_.b()}, level));
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
    cut_.forget();
    recent_.clear();
    blocker_ = {};
  }
  [[nodiscard]] std::unique_ptr<AnytimeEvidence> clone() const override { return std::make_unique<BottleneckEvidence>(*this); }

 private:
  /// How many arms a part may gain, or have, before other candidates are looked at.
  static constexpr std::size_t few_more = 8;
  /// How many pairs of pairs that forbade a stop are looked at again.
  static constexpr std::size_t most_recent = 12;
  /// How far above a level a known value may be for a search to have a good chance to find one below.
  static constexpr double search_reach = 2.0;
  static constexpr std::size_t all_of_them = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] static bool is_candidate(const Clusters& clusters, const Witness& w) {
    return w.exists() && clusters.together(w.u, w.v) && !clusters.together(w.a, w.b);
  }
  [[nodiscard]] static Candidate candidate_of(const Clusters& clusters, const Witness& w) {
    return {std::min(w.a, w.b), std::max(w.a, w.b), clusters.label(w.u), 0.0};
  }
  [[nodiscard]] static Witness edge_of(const Bridge& edge, const Candidate& c) {
    return {std::min(edge.u, edge.v), std::max(edge.u, edge.v), c.a, c.b};
  }
  /// Whether an edge has evidence below `level` against the pair of `of`; the same as far as it is known without a search.
  /// Where a kind of evidence needs none both are the same.
  static constexpr bool searches = requires(Pairs p, const Situation& now, Witness w) { p.is_known_below(now, w, 0.0, 0); };
  [[nodiscard]] auto below(const Situation& now, const auto& of, double level) {
    return [this, &now, a = of.a, b = of.b, level](Index u, Index v) {
      return pairs_.is_below(now, Witness{std::min(u, v), std::max(u, v), a, b}.oriented(), level, scale_);
    };
  }
  [[nodiscard]] auto known_below(const Situation& now, const auto& of, double level) {
    if constexpr (!searches)
      return below(now, of, level);
    else
      return [this, &now, a = of.a, b = of.b, level](Index u, Index v) {
        return pairs_.is_known_below(now, Witness{std::min(u, v), std::max(u, v), a, b}.oriented(), level, scale_);
      };
  }
  /// Whether the candidate forbids a stop, by the survey of this level; its cut is kept. `is_below(u, v)` is that of its pair.
  template <class IsBelow>
  [[nodiscard]] bool blocks(const Situation& now, const Candidate& c, double level, IsBelow is_below);
  /// Whether few arms at either end of a pair of pairs are known to forbid a stop; their cut is kept.
  [[nodiscard]] bool forbids(const Situation& now, Witness w, double level);
  /// The kept cut forbids a stop: the blocker becomes a pair of pairs of it.
  void block_by_cut(const Situation& now);
  /// The smallest edge of a maximum spanning tree if it is below `level`, else infinite.
  [[nodiscard]] Bridge bottleneck(const Situation& now, const Candidate& c, double level, bool any);
  /// Where the bottleneck of psi's witness is; nothing if there is no such candidate.
  [[nodiscard]] Bridge begin(const Situation& now);
  /// Survey candidates at a level: those that may be below it, at most so many.
  std::vector<Candidate> survey(const Situation& now, double level, const Witness& at, std::size_t most);
  /// A level below `level` that all but at most `most` candidates are sure to reach, by their lengths.
  [[nodiscard]] double lower_level(const Situation& now, double level, const Witness& at, std::size_t most);
  /// The blocker of the statistic, which was found at `where`; `all` have been surveyed.
  void settle(const Situation& now, const Bridge& best, std::optional<Candidate> where, std::vector<Candidate>& all);
  /// Evidence against an edge for the statistic.
  [[nodiscard]] double edge_value(const Situation& now, const Witness& w, double level) {
    if (surveyed_) {
      const double lower = survey_.lower(now, w, level);
      if (lower >= level || is_spent()) return lower;
    }
    ++edges_;
    return pairs_.against(now, w.oriented(), level, scale_);
  }
  /// Whether the work for one statistic is bounded; where it is, what has been done so far, in edges or in what `Pairs`
  /// counts.
  static constexpr bool is_bounded = requires { Pairs::most_work; };
  /// How many candidates it then looks at one by one, and how many are listed.
  static constexpr std::size_t most_candidates = is_bounded ? 2000 : all_of_them;
  static constexpr std::size_t most_listed = is_bounded ? 200000 : all_of_them;
  [[nodiscard]] long long work() const {
    if constexpr (requires { pairs_.work(); }) return pairs_.work();
    return edges_;
  }
  [[nodiscard]] long long work_limit() const {
    if constexpr (requires { pairs_.work_limit(); }) return pairs_.work_limit();
    return Pairs::most_work;
  }
  /// Whether this statistic has done the work that it may do.
  [[nodiscard]] bool is_spent() const { return is_bounded && surveyed_ && work() >= limit_; }
  /// Parts of the cluster: by the survey where it was made for such a level, else every arm for itself.
  Index find_parts(const Situation& now, const Candidate& c, double level, bool surveyed);

  Pairs pairs_;
  Index n_scales_, scale_;
  Witness blocker_;
  std::vector<Witness> recent_;  ///< what was the blocker before, the last one first
  KeptCut cut_;
  Survey survey_;
  long long edges_ = 0, limit_ = 0;  ///< edges that the statistic has asked for; the limit of `work()`
  bool surveyed_ = false;            ///< the survey belongs to this question
  PartJoiner joiner_;
  std::vector<Index> part_;
};

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
template <class IsBelow>
bool BottleneckEvidence<Pairs>::blocks(const Situation& now, const Candidate& c, double level, IsBelow is_below) {
  if (survey_.split(now, c.k, c.a, c.b, level, part_) == 1) return false;
  const auto inside = joiner_.find_closed(now.partition.clusters().members(c.k), part_, now.dist, [&](Index u, Index v) {
    return survey_.lower(now, {std::min(u, v), std::max(u, v), c.a, c.b}, level) >= level || !is_below(u, v);
  });
  if (inside.empty()) return false;
  cut_.keep(now, c.k, c.a, c.b, inside, level);
  block_by_cut(now);
  return true;
}

template <class Pairs>
bool BottleneckEvidence<Pairs>::forbids(const Situation& now, Witness w, double level) {
  const Clusters& clusters = now.partition.clusters();
  if (!is_candidate(clusters, w)) return false;
  const auto is_below = known_below(now, w, level);
  // (of two arms either end is the whole of the other part)
  if (!cut_.find(now, w, w.u, level, few_more, is_below) &&
      (clusters.size(clusters.label(w.u)) == 2 || !cut_.find(now, w, w.v, level, few_more, is_below)))
    return false;
  block_by_cut(now);
  return true;
}

template <class Pairs>
void BottleneckEvidence<Pairs>::block_by_cut(const Situation& now) {
  const Clusters& clusters = now.partition.clusters();
  const Index u = cut_.part().front(), v = *std::ranges::find_if(clusters.members(clusters.label(u)), [&](Index m) {
                                         return std::ranges::find(cut_.part(), m) == cut_.part().end();
                                       });
  blocker_ = {std::min(u, v), std::max(u, v), cut_.a(), cut_.b()};
  std::erase(recent_, blocker_);
  if (recent_.size() >= most_recent) recent_.pop_back();
  recent_.insert(recent_.begin(), blocker_);
}

template <class Pairs>
bool BottleneckEvidence<Pairs>::is_blocked(const Situation& now, double level) {
  if (is_still_blocked(now, level)) return true;
  // a few arms at either end of psi's witness, and of what forbade a stop before; then all candidates that may be below the level
  if (forbids(now, now.witness, level)) return true;
  for (const Witness& w : recent_) {
    if (forbids(now, w, level)) return true;
  }
  std::vector<Candidate> all = survey(now, level, blocker_, all_of_them);
  std::ranges::sort(all, [](const auto& x, const auto& y) { return x.lacks_more(y); });
  if constexpr (searches) {
    // what is near the level needs a proof, or a search that shows that there is none. First what forbade a stop before; then
    // pairs that share an arm with the cluster, which are mostly the nearest; what is far above the level last
    const Clusters& clusters = now.partition.clusters();
    for (const Candidate& c : all) {
      const bool recent = std::ranges::any_of(recent_, [&](const Witness& w) {
        return std::min(w.a, w.b) == c.a && std::max(w.a, w.b) == c.b && is_candidate(clusters, w) && clusters.label(w.u) == c.k;
      });
      if (recent && blocks(now, c, level, below(now, c, level))) return true;
    }
    const auto others = std::ranges::stable_partition(
        all, [&](const Candidate& c) { return clusters.label(c.a) == c.k || clusters.label(c.b) == c.k; });
    for (const std::span<Candidate> group : {std::span(all.begin(), others.begin()), std::span(others)}) {
      for (Candidate& c : group) {
        if (blocks(now, c, level, known_below(now, c, level))) return true;
        c.margin = -pairs_.last_known();
      }
      std::ranges::sort(group, [](const auto& x, const auto& y) { return x.lacks_more(y); });
      for (const Candidate& c : group) {
        if (-c.margin < level + search_reach && blocks(now, c, level, below(now, c, level))) return true;
      }
    }
  }
  return std::ranges::any_of(all, [&](const Candidate& c) { return blocks(now, c, level, below(now, c, level)); });
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
std::vector<Candidate> BottleneckEvidence<Pairs>::survey(const Situation& now, double level, const Witness& at,
                                                         std::size_t most) {
  survey_.make(now, pairs_.bounds(now, level, scale_, at), level);
  surveyed_ = true;
  return survey_.candidates(now, most);
}

template <class Pairs>
double BottleneckEvidence<Pairs>::lower_level(const Situation& now, double level, const Witness& at, std::size_t most) {
  constexpr int halvings = 8;
  double low = survey_.least_level(), high = level;
  for (int turn = 0; turn < halvings && low > -inf && high - low > 1e-3 * (1.0 + std::abs(low)); ++turn) {
    const double middle = 0.5 * (low + high);
    (survey(now, middle, at, most + 1).size() <= most ? low : high) = middle;
  }
  return low;
}

template <class Pairs>
double BottleneckEvidence<Pairs>::statistic(const Situation& now) {
  surveyed_ = false;
  if constexpr (is_bounded) limit_ = work() + work_limit();
  // the nearer the level is to the answer, the fewer candidates are left
  Bridge best = begin(now);
  std::optional<Candidate> where;
  if (best.value < inf) where = candidate_of(now.partition.clusters(), now.witness);
  const auto at = [&] { return where ? edge_of(best, *where) : Witness{}; };
  const auto lacking = [](const Candidate& x, const Candidate& y) { return x.lacks_more(y); };
  const auto compare = [&](const Candidate& c, double level) {
    const Bridge found = bottleneck(now, c, std::min(best.value, level), false);
    if (!(found.value < std::min(best.value, level))) return;
    best = found;
    where = c;
  };
  const auto order = [](const Candidate& x, const Candidate& y) { return x.precedes(y); };
  std::set<Candidate, decltype(order)> done(order);  // what has been compared with the best of its time
  std::vector<Candidate> all;
  for (bool again = best.value > -inf; again;) {
    const double start = best.value;
    all = survey(now, std::nextafter(start, inf), at(), most_listed);
    again = false;
    // where the first few of many bring the level down, fewer are left at the new one
    const auto few = std::min(all.size(), few_more);
    std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(few), lacking);
    const std::size_t end = all.size() > most_candidates ? few : all.size();
    for (std::size_t i = 0; i < end && !again && !is_spent(); ++i) {
      if (done.insert(all[i]).second) compare(all[i], inf);
      again = best.value < start && all.size() > 1000 && (i + 1 == few || i % 1024 == 1023);
    }
  }
  if (!is_spent() && all.size() <= most_candidates) {
    settle(now, best, where, all);
    return best.value;
  }
  // too many: a level that all but some are sure to reach, or all of them
  double level = best.value;
  if (!is_spent()) {
    level = lower_level(now, level, at(), most_candidates);
    all = survey(now, level, at(), most_candidates);
    std::ranges::sort(all, lacking);
    for (std::size_t i = 0; i < all.size() && !is_spent(); ++i) compare(all[i], level);
  }
  if (is_spent()) level = lower_level(now, level, at(), 0);
  if (where) blocker_ = at();
  return std::min(best.value, level);
}

// Equal values are decided by the order of candidates, not by where the search began.
template <class Pairs>
void BottleneckEvidence<Pairs>::settle(const Situation& now, const Bridge& best, std::optional<Candidate> where,
                                       std::vector<Candidate>& all) {
  const double level = std::nextafter(best.value, inf);
  std::ranges::sort(all, [](const auto& x, const auto& y) { return x.precedes(y); });
  for (const Candidate& c : all) {
    if (!where || !c.precedes(*where)) break;
    if (bottleneck(now, c, level, true).value == inf) continue;
    where = c;
    break;
  }
  if (!where) return;
  // the edge, however the search came to it: the first of those that are no larger
  const Bridge edge = bottleneck(now, *where, level, true);
  blocker_ = edge_of(edge.u >= 0 ? edge : best, *where);
}

}  // namespace linkarms
