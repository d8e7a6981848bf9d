#include "psi/threshold_search.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "linkage/spanning_tree.hpp"
#include "math/constants.hpp"

namespace linkarms::psi {

namespace {

Witness merge_of(Index x, Index y) {
  return {-1, -1, std::min(x, y), std::max(x, y)};
}
Witness split_of(Index x, Index y) {
  return {std::min(x, y), std::max(x, y), -1, -1};
}

}  // namespace

template <class Problem>
ThresholdSearch<Problem>::ThresholdSearch(const Model& model, const Task& task)
    : model_(&model),
      problem_(model, task),
      spreads_(problem_, model.n_arms()),
      merges_(static_cast<std::size_t>(model.n_arms())),
      links_(static_cast<std::size_t>(model.n_arms())) {}

template <class Problem>
std::size_t ThresholdSearch<Problem>::bytes() const {
  return spreads_.bytes() + links_.size() * (sizeof(Nearest) + sizeof(Link) + 1);
}

template <class Problem>
double ThresholdSearch<Problem>::merge(const ClusteredArms& now, Index x, Index y, double level) {
  ++evaluated_;
  return problem_.cost(at(now), merge_of(x, y), level);
}

template <class Problem>
double ThresholdSearch<Problem>::split(const ClusteredArms& now, Index x, Index y, double level) {
  ++evaluated_;
  return problem_.cost(at(now), split_of(x, y), level);
}

/// The least merge of arm a; of equal ones that with the first partner.
template <class Problem>
void ThresholdSearch<Problem>::scan_row(const ClusteredArms& now, Index a) {
  Nearest found{inf, -1, false};
  for (Index b = 0; b < now.dist.size(); ++b) {
    if (now.clusters.together(a, b)) continue;
    const double cost = merge(now, a, b, found.value);
    if (cost < found.value || (found.other < 0 && cost <= found.value)) found = {cost, b, false};
  }
  merges_[a] = found;
}

/// A maximum spanning tree of a cluster.
template <class Problem>
void ThresholdSearch<Problem>::grow_tree(const ClusteredArms& now, std::span<const Index> arms) {
  links_[arms[0]] = {};
  linkarms::grow_tree(
      static_cast<Index>(arms.size()),
      [&](Index i, Index j) { return EdgeCost{split(now, arms[i], arms[j]), Edge::between(arms[i], arms[j])}; },
      [](const EdgeCost& x, const EdgeCost& y) { return x.exceeds(y); },
      [&](Index i, const EdgeCost& found) {
        const Index m = arms[i];
        links_[m] = {found.edge.u == m ? found.edge.v : found.edge.u, found.value};
      });
}

template <class Problem>
void ThresholdSearch<Problem>::make(const ClusteredArms& now) {
  cut_.reset();
  for (Index a = 0; a < now.dist.size(); ++a) merges_[a] = {inf, -1, false};
  for (Index a = 0; a < now.dist.size(); ++a) {
    for (Index b = a + 1; b < now.dist.size(); ++b) {
      if (now.clusters.together(a, b)) continue;
      Nearest &x = merges_[a], &y = merges_[b];
      const double cost = merge(now, a, b, std::max(x.value, y.value));
      if (cost < x.value || x.other < 0) x = {cost, b, false};
      if (cost < y.value || y.other < 0) y = {cost, a, false};
    }
  }
  for (Index k = 0; k < now.clusters.n_clusters(); ++k) grow_tree(now, now.clusters.members(k));
}

/// Bring everything up to date after arm m has moved or weighs more.
template <class Problem>
void ThresholdSearch<Problem>::move(const ClusteredArms& now, Index m) {
  Nearest own{inf, -1, false};
  const Index likely = merges_[m].other;  // looked at first: its cost is a level for the others
  const auto meet = [&](Index b) {
    if (b == m || now.clusters.together(m, b)) return;
    Nearest& other = merges_[b];
    const double cost = merge(now, m, b, std::max(own.value, other.value));
    if (cost < own.value || own.other < 0 || (cost == own.value && b < own.other)) own = {cost, b, false};
    if (cost < other.value || (cost == other.value && (other.other == m || m < other.other))) {
      other.value = cost;
      if (!other.stale) other.other = m;
    } else if (other.other == m) {
      other.stale = true;  // what it was is a lower bound of what it is
      other.other = -1;
    }
  };
  if (likely >= 0) meet(likely);
  for (Index b = 0; b < now.dist.size(); ++b) {
    if (b != likely) meet(b);
  }
  merges_[m] = own;
  for (const Index x : now.clusters.members(now.clusters.label(m))) {
    Link& link = links_[x];
    if (link.up >= 0 && (x == m || link.up == m)) link = {link.up, 0.0, true};  // found when it is needed
  }
  if (!cut_ || !regrouped_.empty() || !now.clusters.together(cut_->edge.u, m)) return;
  for (const Index x : now.clusters.members(now.clusters.label(m))) {
    if (cut_->inside[x] == cut_->inside[m] || Edge::between(x, m) == cut_->edge) continue;
    const EdgeCost found{split(now, x, m), Edge::between(x, m)};
    if (found.exceeds(cut_->others)) cut_->others = found;
  }
}

template <class Problem>
void ThresholdSearch<Problem>::partition_changed(const ClusteredArms& now, const Clusters& before) {
  regrouped_.resize(links_.size(), 0);
  for (Index k = 0; k < before.n_clusters(); ++k) {
    const auto arms = before.members(k);
    if (std::ranges::equal(arms, now.clusters.members(now.clusters.label(arms[0])))) continue;
    for (const Index m : arms) regrouped_[m] = 1;
  }
}

/// New rows for arms of clusters that have changed, and new trees. Pairs of other arms are apart as they were.
template <class Problem>
void ThresholdSearch<Problem>::regroup(const ClusteredArms& now) {
  if (regrouped_.empty()) return;
  cut_.reset();
  for (Index k = 0; k < now.clusters.n_clusters(); ++k) {
    const auto arms = now.clusters.members(k);
    if (!regrouped_[arms[0]]) continue;
    grow_tree(now, arms);
    for (const Index m : arms) scan_row(now, m);
  }
  regrouped_.clear();
}

/// The least merge of all, as an edge. Rows whose bound may be below it are scanned.
template <class Problem>
EdgeCost ThresholdSearch<Problem>::nearest_merge(const ClusteredArms& now) {
  while (true) {
    EdgeCost best;
    Index stale = -1;
    for (Index a = 0; a < now.dist.size(); ++a) {
      const Nearest& row = merges_[a];
      if (row.stale) {
        if (stale < 0 || row.value < merges_[stale].value) stale = a;
      } else if (row.other >= 0) {
        const Edge edge = Edge::between(a, row.other);
        if (best.edge.u < 0 || row.value < best.value || (row.value == best.value && edge.precedes(best.edge))) {
          best = {row.value, edge};
        }
      }
    }
    if (stale < 0 || merges_[stale].value > best.value) return best;
    scan_row(now, stale);
  }
}

/// Find the most expensive edge across the cut at the edge of x to its parent, besides that one.
template <class Problem>
void ThresholdSearch<Problem>::look_across(const ClusteredArms& now, Index x) {
  const auto arms = now.clusters.members(now.clusters.label(x));
  KnownCut cut{Edge::between(x, links_[x].up), {-inf, {}}, std::vector<char>(links_.size(), 0)};
  // below x: found from each arm upwards, until one whose side is known
  constexpr char below = 1, beside = 2;
  cut.inside[x] = below;
  std::vector<Index> path;
  for (Index m : arms) {
    path.clear();
    while (m >= 0 && cut.inside[m] == 0) {
      path.push_back(m);
      m = links_[m].up;
    }
    for (const Index y : path) cut.inside[y] = m >= 0 ? cut.inside[m] : beside;
  }
  for (const Index a : arms) {
    if (cut.inside[a] != below) continue;
    for (const Index b : arms) {
      if (cut.inside[b] != beside || Edge::between(a, b) == cut.edge) continue;
      const EdgeCost found{split(now, a, b), Edge::between(a, b)};
      if (found.exceeds(cut.others)) cut.others = found;
    }
  }
  cut_ = std::move(cut);
}

/// Put `edge`, which crosses the cut at x, in place of x's edge to its parent.
template <class Problem>
void ThresholdSearch<Problem>::exchange(const ClusteredArms& now, Index x, const Edge& edge) {
  const bool first = cut_->inside[edge.u] == cut_->inside[x];
  Index child = first ? edge.u : edge.v;
  Link link{first ? edge.v : edge.u, split(now, edge.u, edge.v)};
  // the path from the new lower end up to x turns round
  while (true) {
    const Link old = std::exchange(links_[child], link);
    if (child == x) break;
    link = {child, old.cost, old.rough};
    child = old.up;
  }
  cut_.reset();
}

/// The smallest edge of the maximum spanning trees of all clusters if it is at most `level`; else any that is
/// larger. The smallest edge of a tree is the answer if no other edge across its cut is more expensive; else the
/// most expensive one takes its place.
template <class Problem>
EdgeCost ThresholdSearch<Problem>::smallest_split(const ClusteredArms& now, double level) {
  while (true) {
    EdgeCost least;
    Index x = -1;
    for (Index m = 0; m < now.dist.size(); ++m) {
      Link& link = links_[m];
      if (link.up < 0) continue;
      if (link.rough && link.cost <= level) {
        link.cost = split(now, m, link.up, level);
        link.rough = link.cost > level;
      }
      const EdgeCost edge{link.cost, Edge::between(m, link.up)};
      if (x < 0 || least.exceeds(edge)) {
        least = edge;
        x = m;
      }
    }
    if (x < 0 || least.value > level) return least;
    const bool known = cut_ && cut_->edge == least.edge;
    if (known && least.exceeds(cut_->others)) return least;
    look_across(now, x);
    if (least.exceeds(cut_->others)) return least;
    const Edge edge = cut_->others.edge;
    exchange(now, x, edge);
  }
}

template <class Problem>
PsiAnswer ThresholdSearch<Problem>::find(const ClusteredArms& now, View weights, std::optional<Index> moved, Matrix& lam,
                                         MutView kl) {
  const bool fits = std::exchange(fits_, false);  // until all has gone well: a user's function may throw
  if (spreads_.assign(problem_, now.theta, weights, fits ? moved : std::nullopt)) {
    move(now, *moved);
    regroup(now);
  } else {
    make(now);
  }
  regrouped_.clear();
  const EdgeCost merges = nearest_merge(now);
  const EdgeCost splits = smallest_split(now, merges.value);
  fits_ = true;
  const bool is_split = splits.edge.u >= 0 && (merges.edge.u < 0 || splits.value < merges.value);
  const auto [value, edge] = is_split ? splits : merges;
  if (edge.u < 0) return {inf, {}};
  const Witness witness = is_split ? split_of(edge.u, edge.v) : merge_of(edge.u, edge.v);
  if (value == inf) return {inf, {}};
  problem_.solve(at(now), witness, lam);
  bool free = false;  // an arm of no weight moves for free
  for (const Index m : witness.arms()) {
    kl[m] = model_->arm(m).kl(now.theta.row(m), lam.row(m));
    free = free || weights[m] <= 0.0;
  }
  return {free ? 0.0 : value, witness};
}

template class ThresholdSearch<IsotropicTwoArms>;
template class ThresholdSearch<GeneralTwoArms>;

}  // namespace linkarms::psi
