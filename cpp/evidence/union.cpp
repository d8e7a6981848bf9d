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

/// X + (L - 1)|C|(M - |C|) over all sizes of clusters and all sizes of the one of e_1.
double largest_third(Index n_arms, Index n_clusters) {
  const double kept = n_arms - n_clusters;
  double most = 0.0;
  for (Index n = 2; n <= n_arms - n_clusters + 1; ++n) {
    const double separated = choose2(n_arms) - choose2(n) - fewest_inside(n_arms - n, n_clusters - 1);
    const Index half = n / 2;
    const double side = half;
    most = std::max(most, separated + (kept - 1.0) * side * (n_arms - side));
  }
  return most;
}

}  // namespace

double count_sets(Index n_arms) {
  return std::max(1.0, choose3(n_arms) + choose4(n_arms));
}

UnionSizes union_sizes(const Question& question, Index n_arms, Index n_clusters, EvidenceUnit unit) {
  const double all = choose2(n_arms);
  const auto both = [](double n) { return UnionSizes{std::max(n, 1.0), std::max(n, 1.0)}; };
  if (question.promise == Promise::threshold) return both(all);
  // (pieces are as many as sets only where no two distances are equal: evidence for a piece does not count by sets)
  const double sets = unit == EvidenceUnit::set ? count_sets(n_arms) : inf;
  if (question.promise == Promise::every_cut) return both(std::min(sets, (n_arms - 1.0) * (all - 1.0)));
  const double kept = n_arms - n_clusters;
  if (question.tolerant) return both(std::min(sets, kept * (all - 1.0)));
  const double separated = all - fewest_inside(n_arms, n_clusters);
  const double any = std::min({kept * separated, largest_third(n_arms, n_clusters), sets});
  return {std::max(1.0, std::min(separated + kept - 1.0, any)), std::max(1.0, any)};
}

UnionBound::UnionBound(double n) : pairs_(std::log(n)), any_(pairs_) {}

UnionBound::UnionBound(const UnionSizes& sizes, double share)
    : pairs_(std::log(sizes.pairs) - std::log(share)), any_(std::log(sizes.any) - std::log1p(-share)) {
  pairs_ = std::min(pairs_, any_);  // either family covers a partition into pairs
}

UnionBound::UnionBound(const Question& question, Index n_arms, Index n_clusters, EvidenceUnit unit) : UnionBound(1.0) {
  const UnionSizes sizes = union_sizes(question, n_arms, n_clusters, unit);
  const bool split = question.promise == Promise::clusters && !question.tolerant;
  *this = UnionBound(sizes, split ? share_of_pairs(sizes, n_arms, n_clusters) : 0.0);
}

double UnionBound::share_of_pairs(const UnionSizes& sizes, Index n_arms, Index n_clusters) {
  constexpr double share = 0.9, worth = 0.25;
  if (2 * n_clusters < n_arms) return 0.0;
  return std::log(sizes.any / sizes.pairs * share) >= worth ? share : 0.0;
}

double UnionBound::base(const Clusters& named) const {
  Index largest = 0;
  for (Index k = 0; k < named.n_clusters(); ++k) largest = std::max(largest, named.size(k));
  return base(largest);
}

}  // namespace linkarms
