#include "evidence/union.hpp"

#include <algorithm>
#include <cmath>

#include "math/constants.hpp"

namespace linkarms {
namespace {

/// Numbers of pairs, of sets of three and of four; exact in doubles up to ten thousand arms.
double choose2(double n) {
  return n * (n - 1.0) / 2.0;
}
double choose3(double n) {
  return n * (n - 1.0) * (n - 2.0) / 6.0;
}
double choose4(double n) {
  return n * (n - 1.0) * (n - 2.0) * (n - 3.0) / 24.0;
}

/// Pairs inside k clusters of n arms whose sizes are as equal as can be: as few as there can be.
double fewest_inside(Index n, Index k) {
  if (k == 0) return 0.0;
  const Index size = n / k, larger = n % k;
  return (k - larger) * choose2(size) + larger * choose2(size + 1.0);
}

/// Events for the truths in which the cluster of e_1 has n arms, the others as equal as can be: then X is largest. The
/// smaller side C of e_1 has at most n/2 arms; counts rise with it.
EventCounts count_clusters(double n_arms, double n_clusters, double separated, Index n) {
  const double kept = n_arms - n_clusters;
  const Index half = n / 2;
  const double side = half, others = n_arms - side;
  return {separated + kept - 1.0, (kept - 1.0) * std::min(side * others - 1.0, separated)};
}

/// The same in sets of arms. With e_1, an arm of another cluster makes one set and two pieces. An edge e_i inside C makes a
/// set with each arm outside, and with each pair of such an arm and another one of C; so does one outside with C.
EventCounts count_cluster_sets(double n_arms, double n_clusters, double separated, Index n) {
  const double kept = n_arms - n_clusters;
  const Index half = n / 2;
  const double side = half, others = n_arms - side;
  const double pairs = separated - (n_arms - n) + kept - 1.0;
  const double third = (side - 1.0) * (side - 1.0) * others + (kept - side) * side * (others - 1.0) - (kept - 1.0);
  const double flat = (kept - 1.0) * (separated - (n_clusters - 1.0));
  return {pairs, std::max(0.0, std::min({third, flat, count_sets(static_cast<Index>(n_arms)) - pairs}))};
}

/// The ratio of weights with the smallest weighted sum of the two thresholds: that for pairs counts three times. 1 where
/// some cluster must have three arms (2K < M).
double choose_ratio(std::span<const EventCounts> counts, bool pairs_possible) {
  const auto loss = [&](double ratio) {
    const UnionBound bound(counts, ratio);
    return 3.0 * bound.base(2) + bound.base(3);
  };
  double ratio = 1.0;
  while (pairs_possible && loss(2.0 * ratio) < loss(ratio)) ratio *= 2.0;
  return ratio;
}

}  // namespace

double count_sets(Index n_arms) {
  return std::max(1.0, choose3(n_arms) + choose4(n_arms));
}

std::vector<EventCounts> count_events(const Question& question, Index n_arms, Index n_clusters, EvidenceUnit unit) {
  const double all = choose2(n_arms);
  const auto plain = [](double n) { return std::vector{EventCounts{0.0, std::max(n, 1.0)}}; };
  if (question.promise == Promise::threshold) return plain(all);
  const bool in_sets = unit == EvidenceUnit::set;
  // an edge and another pair: a third arm makes two pieces and one set
  const double with_edge = in_sets ? choose2(n_arms - 1.0) : all - 1.0;
  // (pieces are as many as sets only where no two distances are equal: evidence for a piece does not count by sets)
  const double sets = in_sets ? count_sets(n_arms) : inf;
  if (question.promise == Promise::every_cut) return plain(std::min(sets, (n_arms - 1.0) * with_edge));
  if (question.tolerant) return plain(std::min(sets, static_cast<double>(n_arms - n_clusters) * with_edge));
  std::vector<EventCounts> out;
  for (Index n = 2; n <= n_arms - n_clusters + 1; ++n) {
    const double separated = all - choose2(n) - fewest_inside(n_arms - n, n_clusters - 1);
    out.push_back((in_sets ? count_cluster_sets : count_clusters)(n_arms, n_clusters, separated, n));
  }
  return out;
}

UnionBound::UnionBound(double n) : pairs_(std::log(n)), any_(pairs_) {}

UnionBound::UnionBound(std::span<const EventCounts> counts, double ratio) : UnionBound(1.0) {
  for (const auto [pairs, rest] : counts) any_ = std::max(any_, std::log(ratio * pairs + rest));
  pairs_ = any_ - std::log(ratio);
}

UnionBound::UnionBound(const Question& question, Index n_arms, Index n_clusters, EvidenceUnit unit) : UnionBound(1.0) {
  const std::vector<EventCounts> counts = count_events(question, n_arms, n_clusters, unit);
  const bool by_shape = question.promise == Promise::clusters && !question.tolerant && 1 < n_clusters && n_clusters < n_arms;
  *this = UnionBound(counts, choose_ratio(counts, by_shape && 2 * n_clusters >= n_arms));
}

double UnionBound::base(const Clusters& named) const {
  Index largest = 0;
  for (Index k = 0; k < named.n_clusters(); ++k) largest = std::max(largest, named.size(k));
  return base(largest);
}

}  // namespace linkarms
