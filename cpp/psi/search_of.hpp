// The search for psi, for one kind of pair problem.
//
// It begins with an upper bound of psi and rules out all other candidates. For that the Gaussian formulas at
// the arms' spreads are enough, which need one look at a pair of distances: attachments rule out single arms
// against pairs of their own, trees all other parts. What they do not rule out is evaluated. Clusters of one
// and two arms have lists of their candidates instead.
#pragma once

#include <optional>
#include <vector>

#include "psi/attachments.hpp"
#include "psi/bottleneck.hpp"
#include "psi/cluster_search.hpp"
#include "psi/cluster_trees.hpp"
#include "psi/costs.hpp"
#include "psi/edge_front.hpp"
#include "psi/edge_replacer.hpp"
#include "psi/growing_weights.hpp"
#include "psi/nearest_by_spread.hpp"
#include "psi/shortlist.hpp"
#include "psi/spreads.hpp"

namespace linkarms::psi {

/// Invariant between calls: the parts that say they are made, or fit, or exist, are those of the last
/// call.
template <class Problem>
class SearchOf final : public ClusterSearch {
 public:
  SearchOf(const Model& model, const SearchLimits& limits) : SearchOf(model, Problem(model), limits) {}
  SearchOf(const Model& model, const Problem& problem, const SearchLimits& limits);

  PsiAnswer find(const ClusteredArms& now, View weights, std::optional<Index> moved, Matrix& lam, MutView kl) override;
  void partition_changed(const ClusteredArms& now, const Clusters& before) override;
  void forget() override;
  [[nodiscard]] std::unique_ptr<Search> clone() const override { return std::make_unique<SearchOf>(*this); }
  [[nodiscard]] long long costs_evaluated() const override { return evaluated_; }
  [[nodiscard]] std::size_t bytes() const override;
  [[nodiscard]] SearchMemory memory(const Clusters& clusters) const override;
  EdgeCost bottleneck(const ClusteredArms& now, View weights, const Candidate& of, double level, bool by_exchange) override;

 private:
  using C = Costs<Problem>;

  [[nodiscard]] bool grows(const ClusteredArms& now, View weights, std::optional<Index> moved);
  void bring_up_to_date(const ClusteredArms& now, std::optional<Index> moved);
  void scan(const C& costs, Candidate& best);
  void list_growing(const C& costs, const Candidate& best);
  /// What candidates have to be below to be looked at.
  [[nodiscard]] double limit(const Candidate& best) const {
    return growing_.is_open() ? std::max(growing_.level(), best.value) : best.value;
  }
  void take(const EdgeCost& found, Index k, Index a, Index b, Candidate& best) {
    if (growing_.is_open() && evaluated_ > most_evaluated_) growing_.drop();
    growing_.add(found, k, a, b);
    best.take_smaller(found, k, a, b);
  }
  Candidate search(const C& costs, bool follows);
  Candidate begin(const C& costs);
  [[nodiscard]] Candidate propose(const ClusteredArms& now) const;
  void first_finite(const C& costs, Candidate& best);
  void evaluate(const C& costs, Index k, Index a, Index b, Candidate& best);
  EdgeCost value_below(const C& costs, Index k, Index a, Index b, double level);
  void solve(const C& costs, const Witness& witness, Matrix& lam, MutView kl);

  void scan_attachments(const C& costs, Candidate& best);
  double find_attachment(const C& costs, Index u, Index b, double best);
  void scan_attachment(const C& costs, Index u, Index b, Candidate& best);
  void scan_trees(const C& costs, Candidate& best);
  bool scan_pair(const C& costs, Index a, Index b, Candidate& best);
  [[nodiscard]] Index weak_edge(const ClusteredArms& now, Index k, Index a, Index b, double twice) const;
  void scan_alternatives(const C& costs, Candidate& best);

  const Model* model_;
  Problem problem_;
  Spreads spreads_;
  ClusterTrees trees_;
  NearestBySpread near_;
  Attachments attachments_;
  Shortlist list_;
  EdgeReplacer replacer_;
  EdgeFront front_;
  Bottleneck<Problem> bottleneck_;
  GrowingWeightList growing_;
  Matrix estimates_;            ///< of the last call
  bool stale_ = false;          ///< trees, nearest arms and attachments do not know all that has changed
  Candidate last_;              ///< the last answer; the next search begins with it
  std::vector<Index> to_scan_;  ///< scratch
  long long evaluated_ = 0;
  long long most_evaluated_ = 0;  ///< while candidates are listed
  bool known_ = false;            ///< the last call has ended well, and nothing was set from outside since
};

template <class Problem>
SearchOf<Problem>::SearchOf(const Model& model, const Problem& problem, const SearchLimits& limits)
    : model_(&model),
      problem_(problem),
      spreads_(problem_, model.n_arms()),
      trees_(model.n_arms()),
      near_(model.n_arms(), model.n_arms() < limits.classes_from ? 1 : 12),
      attachments_(model.n_arms(), limits.most_slots, Problem::has_closed_form),
      list_(model.n_arms(), limits.spare_listed + limits.listed_per_arm * model.n_arms()),
      replacer_(model.n_arms()),
      front_(near_.n_classes()),
      bottleneck_(model.n_arms()),
      growing_(model.n_arms()),
      estimates_(model.n_arms(), model.n_features()) {}

template <class Problem>
PsiAnswer SearchOf<Problem>::find(const ClusteredArms& now, View weights, std::optional<Index> moved, Matrix& lam, MutView kl) {
  const bool known = std::exchange(known_, false);  // until all has gone well: a user's function may throw
  const bool growing = grows(now, weights, known ? moved : std::nullopt);
  if (!growing) growing_.drop();
  const bool one = spreads_.assign(problem_, now.theta, weights, known ? moved : std::nullopt);
  const C costs{now, spreads_, problem_, evaluated_};
  Candidate best;
  bool found = false;
  if (one && trees_.fits() && list_.exists()) {
    list_.move(now, spreads_, *moved);
    if (list_.exists()) list_.improve(costs, 0, best);
    found = list_.exists() && list_.reaches(best.value);
  }
  if (!found && growing && one && growing_.exists()) {
    const long long before = evaluated_;
    best = growing_.least([&](const Candidate& c, double level) { return value_below(costs, c.k, c.a, c.b, level); });
    found = best.exists();
    if (found) {
      growing_.note_use(evaluated_ - before);
    } else {
      growing_.drop();
    }
    stale_ = stale_ || found;
  }
  if (!found) {
    bring_up_to_date(now, one && !stale_ ? moved : std::nullopt);
    stale_ = false;
    const long long before = evaluated_;
    best = search(costs, moved.has_value());
    if (growing && one) growing_.note_search(evaluated_ - before);
    if (growing && one && best.value < inf && !list_.exists() && growing_.is_due()) list_growing(costs, best);
  }
  known_ = true;
  last_ = best;
  if (!best.exists()) return {inf, {}};
  solve(costs, best.witness().oriented(), lam, kl);
  for (const Index m : {best.edge.u, best.edge.v, best.a, best.b}) {
    if (weights[m] <= 0.0) best.value = 0.0;  // an arm of no weight moves for free
  }
  return {best.value, best.witness()};
}

/// Whether nothing but the weight of `moved` has changed since the last call, and that has grown. Estimates are noted.
template <class Problem>
bool SearchOf<Problem>::grows(const ClusteredArms& now, View weights, std::optional<Index> moved) {
  if constexpr (!Problem::has_closed_form) return false;
  if (!moved) {
    estimates_ = now.theta;
    return false;
  }
  const bool same = trees_.fits() && std::ranges::equal(now.theta.row(*moved), estimates_.row(*moved));
  std::ranges::copy(now.theta.row(*moved), estimates_.row(*moved).begin());
  return same && weights[*moved] > spreads_.weights()[*moved];
}

/// Bring trees, attachments and nearest arms up to date after a sample of `moved`; or forget them, where more
/// has changed.
template <class Problem>
void SearchOf<Problem>::bring_up_to_date(const ClusteredArms& now, std::optional<Index> moved) {
  list_.drop();
  const bool follow = moved && attachments_.made();
  if (!trees_.fits()) {
    trees_.fit(now);
  } else if (!follow) {
    trees_.measure(now);
  }
  if (follow) {
    trees_.move(now, *moved);
    near_.move(now, spreads_, *moved);
    attachments_.move(now, spreads_, *moved);
  } else {
    near_.forget();
    attachments_.forget();
  }
}

template <class Problem>
Candidate SearchOf<Problem>::search(const C& costs, bool follows) {
  /// How far above psi the level of a list is: with a wider one more candidates are listed, with a narrower
  /// one it is made more often.
  constexpr double wide = 1.15, once = 1.0 + 1e-6;
  const ClusteredArms& now = costs.now;
  Candidate best = begin(costs);
  if (best.exists() && best.value == inf) first_finite(costs, best);
  if (best.value == inf) return best;
  const bool changed = spreads_.fit(problem_, now.theta, best.value);
  if (!trees_.has_large_cluster()) {
    list_.make(costs, follows ? wide : once, best);
    if (list_.exists()) {
      near_.forget();
      attachments_.forget();
      return best;
    }
  }
  if (!attachments_.made()) {
    std::vector<Index> parents;
    for (Index m = 0; m < now.size(); ++m) parents.push_back(trees_.parent(m));
    attachments_.make(now, spreads_, parents);
  }
  if (!near_.made() || changed) near_.make(now, spreads_);
  near_.fit(now, spreads_);
  scan(costs, best);
  attachments_.expect(1.05 * best.value);
  return best;
}

/// All candidates that may be below the limit.
template <class Problem>
void SearchOf<Problem>::scan(const C& costs, Candidate& best) {
  scan_attachments(costs, best);
  if (trees_.has_large_cluster()) trees_.shorten(costs.now);
  scan_trees(costs, best);
  if (trees_.has_large_cluster()) scan_alternatives(costs, best);
}

/// psi is known: list all candidates that cost a little more.
template <class Problem>
void SearchOf<Problem>::list_growing(const C& costs, const Candidate& best) {
  constexpr long long costs_per_arm = 300;
  most_evaluated_ = evaluated_ + costs_per_arm * costs.now.size();
  growing_.open(growing_.width() * best.value);
  growing_.add({best.value, best.edge}, best.k, best.a, best.b);
  Candidate again = best;
  scan(costs, again);
  growing_.close();
}

/// The longest edge of the linkage tree against one of the shortest distances between clusters: the answer
/// where clusters nearly touch. No candidate where there is no alternative.
template <class Problem>
Candidate SearchOf<Problem>::propose(const ClusteredArms& now) const {
  Index u = -1, b = -1;
  for (Index m = 0; m < now.size(); ++m) {
    if (now.up[m] >= 0 && (u < 0 || now.lengths[m] > now.lengths[u])) u = m;
  }
  const auto a = static_cast<Index>(std::ranges::min_element(now.nearest) - now.nearest.begin());
  for (Index m = 0; m < now.size(); ++m) {
    if (!now.together(a, m) && (b < 0 || now.dist(a, m) < now.dist(a, b))) b = m;
  }
  if (u < 0 || b < 0) return {};
  return {inf, now.clusters.label(u), std::min(a, b), std::max(a, b), {}};
}

/// An upper bound of psi and its candidate: the last answer, or a guess where that is not a candidate any
/// more.
template <class Problem>
Candidate SearchOf<Problem>::begin(const C& costs) {
  const ClusteredArms& now = costs.now;
  const bool valid = last_.exists() && now.together(last_.edge.u, last_.edge.v) && !now.together(last_.a, last_.b);
  const Candidate start = valid ? last_ : propose(now);
  Candidate best;
  if (start.exists()) {
    const Index k = valid ? now.clusters.label(start.edge.u) : start.k;
    best.take_smaller(bottleneck_.by_exchange(costs, trees_, k, start.a, start.b, inf, true), k, start.a, start.b);
  }
  return best;
}

/// Where the first candidate costs infinitely much: one that does not, if there is any.
template <class Problem>
void SearchOf<Problem>::first_finite(const C& costs, Candidate& best) {
  const ClusteredArms& now = costs.now;
  for (Index a = 0; a < now.size(); ++a) {
    for (Index b = a + 1; b < now.size(); ++b) {
      for (Index k = 0; k < now.clusters.n_clusters(); ++k) {
        if (!now.together(a, b) && now.clusters.size(k) > 1) evaluate(costs, k, a, b, best);
        if (best.value < inf) return;
      }
    }
  }
}

/// Take V_k(a,b) into account. The trees stay as they are: other candidates have been ruled out by them.
template <class Problem>
void SearchOf<Problem>::evaluate(const C& costs, Index k, Index a, Index b, Candidate& best) {
  if (!best.is(k, a, b)) take(value_below(costs, k, a, b, limit(best) * ties), k, a, b, best);
}

/// V_k(a,b) if that is at most `level`, else any value above it.
template <class Problem>
EdgeCost SearchOf<Problem>::value_below(const C& costs, Index k, Index a, Index b, double level) {
  constexpr Index few_parts = 4;
  const auto found = bottleneck_.below(costs, trees_, k, a, b, level, few_parts);
  return found ? *found : bottleneck_.by_exchange(costs, trees_, k, a, b, level, false);
}

/// Move the rows of the witness in `lam` to the minimiser, and find their divergences.
template <class Problem>
void SearchOf<Problem>::solve(const C& costs, const Witness& witness, Matrix& lam, MutView kl) {
  problem_.solve(costs.at(), witness, lam);
  for (const Index m : {witness.u, witness.v, witness.a, witness.b}) {
    kl[m] = model_->arm(m).kl(costs.now.theta.row(m), lam.row(m));
  }
}

template <class Problem>
void SearchOf<Problem>::partition_changed(const ClusteredArms& now, const Clusters& before) {
  trees_.partition_changed();
  list_.drop();
  growing_.drop();
  if (!attachments_.made()) return;
  const Regrouping change(before, now.clusters);
  near_.regroup(now, change);
  attachments_.regroup(now, spreads_, change);
}

template <class Problem>
void SearchOf<Problem>::forget() {
  known_ = false;
  last_ = {};
  trees_ = ClusterTrees(model_->n_arms());
  list_.drop();
  growing_.drop();
  near_.forget();
  attachments_.forget();
}

template <class Problem>
std::size_t SearchOf<Problem>::bytes() const {
  return spreads_.bytes() + trees_.bytes() + near_.bytes() + attachments_.bytes() + list_.bytes() + replacer_.bytes() +
         bottleneck_.bytes() + growing_.bytes() + estimates_.bytes() + to_scan_.capacity() * sizeof(Index);
}

}  // namespace linkarms::psi
