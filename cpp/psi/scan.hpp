// Ruling out candidates by attachments and by trees, and evaluating those that are not.
//
// A candidate (k, a, b) with neither arm in the cluster is ruled out by the tree of the cluster; one with an
// arm u in it by the edges of the tree that are not at u, the attachment of u, and the alternative edges of
// its children.
#pragma once

#include "psi/search_of.hpp"

namespace linkarms::psi {

/// The pairs of all arms against their attachments; those with the lowest bounds first, so that fewer remain
/// below the best value.
template <class Problem>
void SearchOf<Problem>::scan_attachments(const C& costs, Candidate& best) {
  constexpr int sorted = 8;  // so many arms; the others in any order
  const auto least = [this](Index u) { return attachments_.least(u); };
  to_scan_.clear();
  for (Index u = 0; u < costs.now.size(); ++u) {
    if (least(u) <= limit(best) * room) to_scan_.push_back(u);
  }
  for (int turn = 0; !to_scan_.empty(); ++turn) {
    auto next = to_scan_.end() - 1;
    if (turn < sorted) next = std::ranges::min_element(to_scan_, {}, least);
    const Index u = std::exchange(*next, to_scan_.back());
    to_scan_.pop_back();
    if (least(u) > limit(best) * room) continue;
    attachments_.scan(costs.now, u, [&] { return limit(best) * room; }, [&](Index b) { scan_attachment(costs, u, b, best); });
  }
}

/// Find a better attachment of u against b; where there is none, evaluate the candidate.
template <class Problem>
void SearchOf<Problem>::scan_attachment(const C& costs, Index u, Index b, Candidate& best) {
  const Index k = costs.now.clusters.label(u);
  const double cost = find_attachment(costs, u, b, limit(best));
  if (best.is(k, u, b) || !(cost <= limit(best) * room)) return;
  if (costs.now.clusters.size(k) == 2) {  // it is the only edge
    take({cost, Edge::between(u, attachments_.arm(u, b))}, k, u, b, best);
  } else {
    const double level = std::min(cost, limit(best)) * ties;
    take(bottleneck_.by_exchange(costs, trees_, k, u, b, level, true), k, u, b, best);
  }
}

/// What the attachment of u against b costs; if that is no more than `best`, u is attached to the arm that
/// costs most, or to any that costs a good deal more than `best`. Where there is no slot for that arm, the
/// cost is still the answer, but it is not kept.
template <class Problem>
double SearchOf<Problem>::find_attachment(const C& costs, Index u, Index b, double best) {
  constexpr double ahead = 1.01;  // psi mostly grows
  const ClusteredArms& now = costs.now;
  const auto members = now.clusters.members(now.clusters.label(u));
  const View row = now.dist.row(u);
  const double level = best * ahead;
  Index v = attachments_.arm(u, b);
  double most = costs.shared(u, v, b, level);
  if (!(most <= best * room) || members.size() == 2) {
    attachments_.set_bound(u, b, most);
    return most;
  }
  const double kept = most;
  const auto enough = [&](Index x) {
    if (x == u || x == v) return false;
    // if u stayed where it is, it would cost no less
    if (Problem::has_closed_form && signed_square(row[b] - row[x]) < 1.999999 * most * (spreads_[x] + spreads_[b])) {
      return false;
    }
    const double cost = costs.shared(u, x, b, level);
    if (cost > most) {
      most = cost;
      v = x;
    }
    return most > level;
  };
  if (!enough(attachments_.partner(u))) std::ranges::any_of(members, enough);  // first the one that was found last
  attachments_.suggest(u, v);
  attachments_.set_bound(u, b, attachments_.attach(now, u, b, v) ? most : kept);
  return most;
}

/// All pairs against the edges of the trees with which they share no arm.
template <class Problem>
void SearchOf<Problem>::scan_trees(const C& costs, Candidate& best) {
  const ClusteredArms& now = costs.now;
  const Index n = now.size();
  replacer_.begin();
  front_.make(trees_, near_, spreads_, spreads_.twice(limit(best)));
  for (Index a = 0; a < n - 1; ++a) {
    if (!front_.row_reaches(near_, a, now.nearest[a])) continue;
    near_.refresh(now, a);
    if (!front_.row_reaches(near_, a, now.nearest[a])) continue;
    const View row = now.dist.row(a), reach = front_.reach(near_.class_of(a));
    for (Index b = a + 1; b < n; ++b) {
      if (row[b] * shrink > reach[near_.class_of(b)] || now.together(a, b)) continue;
      if (!front_.is_crossed(row[b], spreads_[a] + spreads_[b], spreads_.twice(limit(best)))) continue;
      if (scan_pair(costs, a, b, best)) front_.make(trees_, near_, spreads_, spreads_.twice(limit(best)));
    }
  }
}

/// The pair (a, b) against the trees of all clusters; edges that do not rule it out are replaced where that
/// is possible. Whether any was.
template <class Problem>
bool SearchOf<Problem>::scan_pair(const C& costs, Index a, Index b, Candidate& best) {
  const ClusteredArms& now = costs.now;
  bool changed = false;
  for (Index k = 0; k < now.clusters.n_clusters(); ++k) {
    const Index size = now.clusters.size(k);
    if (size < 2) continue;
    const double twice = spreads_.twice(limit(best));
    Index x = weak_edge(now, k, a, b, twice);
    while (x >= 0 && size > 2 && replacer_.replace(now, spreads_, trees_, near_, k, x, a, b, twice)) {
      x = weak_edge(now, k, a, b, twice);
      changed = true;
    }
    if (x >= 0) evaluate(costs, k, a, b, best);
  }
  return changed;
}

/// An arm of cluster k whose edge to its parent, of which neither is a or b, may cost as little as the level;
/// negative for none.
template <class Problem>
Index SearchOf<Problem>::weak_edge(const ClusteredArms& now, Index k, Index a, Index b, double twice) const {
  const double q = now.dist(a, b), s = spreads_[a] + spreads_[b], slack = spreads_.slack();
  for (const Index x : trees_.arms(k)) {
    const Index up = trees_.parent(x);
    if (up < 0 || x == a || x == b || up == a || up == b) continue;
    if (crosses(q, s, trees_.length(x) + slack, spreads_[x] + spreads_[up], twice)) return x;
  }
  return -1;
}

/// The pairs of each arm against the alternative edges of its children.
template <class Problem>
void SearchOf<Problem>::scan_alternatives(const C& costs, Candidate& best) {
  const ClusteredArms& now = costs.now;
  for (Index x = 0; x < now.size(); ++x) {
    if (!trees_.has_alternative(x)) continue;
    const Index u = trees_.parent(x), k = now.clusters.label(x);
    double twice = spreads_.twice(limit(best));
    const auto [z, w, length] = trees_.alternative(now, x);
    const double p = length + spreads_.slack(), r = spreads_[z] + spreads_[w];
    if (!crosses(now.nearest[u], spreads_[u] + near_.widest(), p, r, twice) || !near_.row_crosses(spreads_, u, p, r, twice)) {
      continue;
    }
    near_.refresh(now, u);
    if (!near_.row_crosses(spreads_, u, p, r, twice)) continue;
    bool tried = false;
    for (Index b = -1; (b = near_.next_crossing(now, spreads_, u, b + 1, p, r, twice)) < now.size();) {
      if (!tried && replacer_.replace_alternative(now, spreads_, trees_, k, x, b, twice)) break;
      tried = true;
      evaluate(costs, k, u, b, best);
      twice = spreads_.twice(limit(best));
    }
  }
}

}  // namespace linkarms::psi
