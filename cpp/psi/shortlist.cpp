#include "psi/shortlist.hpp"

namespace linkarms::psi {

Shortlist::Shortlist(Index n_arms, Index most_listed) : most_(static_cast<std::size_t>(most_listed)) {
  const auto n = static_cast<std::size_t>(n_arms);
  partner_.assign(n, -1);
  for (auto* v : {&length_, &spread_, &shared_}) v->assign(n, 0.0);
}

/// Length and spreads of the edge of arm u, taken into account in the largest of all.
void Shortlist::measure(const ClusteredArms& now, const Spreads& spreads, Index u) {
  const Index v = partner_[u];
  length_[u] = v < 0 ? -inf : now.dist(u, v);
  spread_[u] = v < 0 ? 0.0 : spreads[u] + spreads[v];
  shared_[u] = v < 0 ? 0.0 : 4.0 * spreads[u] + spreads[v];
  longest_ = std::max(longest_, length_[u]);
  broadest_ = std::max(broadest_, spread_[u]);
  largest_ = std::max(largest_, spreads[u]);
}

void Shortlist::measure_all(const ClusteredArms& now, const Spreads& spreads) {
  for (Index k = 0; k < now.clusters.n_clusters(); ++k) {
    const auto arms = now.clusters.members(k);
    partner_[arms.front()] = arms.size() > 1 ? arms.back() : -1;
    partner_[arms.back()] = arms.size() > 1 ? arms.front() : -1;
  }
  longest_ = broadest_ = largest_ = 0.0;
  for (Index u = 0; u < now.size(); ++u) measure(now, spreads, u);
}

void Shortlist::clear(const Spreads& spreads, double level) {
  listed_.clear();
  full_ = false;
  set_level(spreads, level);
}

/// List up to this level, if the spreads say anything of it; else up to the one at which they do.
void Shortlist::set_level(const Spreads& spreads, double level) {
  level_ = std::min(spreads.least() > 0.0 ? spreads.least() : level, spreads.level());
}

/// List the edge of u against the pair (a, b), unless it is seen to cost more; `total` is the spread of all
/// arms together.
void Shortlist::offer(const ClusteredArms& now, const Spreads& spreads, Index u, Index a, Index b, double total, double twice) {
  const double gap = now.dist(a, b) * shrink - length_[u] - spreads.slack();
  if (signed_square(gap) > twice * total) return;
  if (listed_.size() == most_) {
    full_ = true;
    return;
  }
  // (where the spreads hold at one level only, a lower bound says nothing)
  const double bound = gap > 0.0 && spreads.least() == 0.0 ? 0.5 * gap * gap / total : 0.0;
  const Index v = partner_[u];
  listed_.push_back({{std::min(u, v), std::max(u, v), std::min(a, b), std::max(a, b)}, bound, false});
}

/// List the arm that looks cheapest to move half-way to a foreign one, and that one.
void Shortlist::offer_guess(const ClusteredArms& now, const Spreads& spreads) {
  Index u = -1, b = -1;
  double least = inf;
  for (Index m = 0; m < now.size(); ++m) {
    const double gap = now.nearest[m] - length_[m];
    if (gap * gap < least * shared_[m]) {
      u = m;
      least = gap * gap / shared_[m];
    }
  }
  if (u < 0) return;
  least = inf;
  for (Index m = 0; m < now.size(); ++m) {
    const double gap = now.dist(u, m) - length_[u], total = shared_[u] + spreads[m];
    if (!now.together(u, m) && gap * gap < least * total) {
      b = m;
      least = gap * gap / total;
    }
  }
  if (b >= 0) offer(now, spreads, u, u, b, shared_[u] + spreads[b], inf);
}

/// List the pair (a, b) against every edge, if it may cost little against any.
void Shortlist::offer_pair(const ClusteredArms& now, const Spreads& spreads, Index a, Index b, double twice) {
  offer(now, spreads, a, a, b, shared_[a] + spreads[b], twice);
  offer(now, spreads, b, a, b, shared_[b] + spreads[a], twice);
  const double own = spreads[a] + spreads[b];
  if (!crosses(now.dist(a, b), own, longest_ + spreads.slack(), broadest_, twice)) return;
  for (Index u = 0; u < now.size(); ++u) {
    if (partner_[u] > u && !now.together(u, a) && !now.together(u, b)) {
      offer(now, spreads, u, a, b, spread_[u] + own, twice);
    }
  }
}

/// List the pairs (a, b) with all foreign arms b from `first` on.
void Shortlist::offer_row(const ClusteredArms& now, const Spreads& spreads, Index a, Index first) {
  constexpr Index few = 4;  // looked at at once
  const Index n = now.size();
  const double twice = this->twice(spreads), slack = spreads.slack();
  const double here = twice * shared_[a], wide = twice * (broadest_ + spreads[a]);
  const double *row = now.dist.row(a).data(), *spread = spreads.values().data();
  const Index* labels = now.clusters.labels().data();
  for (Index i = first; i < n; i += few) {
    if (i + few <= n) {
      int hits = 0;
      for (Index b = i; b < i + few; ++b) {
        const double q = row[b] * shrink - slack, more = twice * spread[b];
        const bool near = (signed_square(q - length_[a]) <= here + more) |
                          (signed_square(q - length_[b]) <= twice * (shared_[b] + spread[a])) |
                          (signed_square(q - longest_) <= wide + more);
        hits += (labels[b] != labels[a]) & near;
      }
      if (hits == 0) continue;
    }
    for (Index b = i; b < std::min(i + few, n); ++b) {
      if (labels[b] != labels[a]) offer_pair(now, spreads, a, b, twice);
    }
  }
}

/// List the edge of m against all pairs with which it shares no arm, by rows that may have a short one.
void Shortlist::offer_edge(const ClusteredArms& now, const Spreads& spreads, Index m) {
  const double twice = this->twice(spreads), p = length_[m] + spreads.slack();
  for (Index a = 0; a < now.size(); ++a) {
    if (now.together(a, m) || !crosses(now.nearest[a], spreads[a] + largest_, p, spread_[m], twice)) continue;
    for (Index b = a + 1; b < now.size(); ++b) {
      if (now.together(b, m) || now.together(a, b)) continue;
      offer(now, spreads, m, a, b, spread_[m] + spreads[a] + spreads[b], twice);
    }
  }
}

void Shortlist::move(const ClusteredArms& now, const Spreads& spreads, Index m) {
  std::erase_if(listed_, [m](const Listed& entry) {
    const auto [u, v, a, b] = entry.witness;
    return u == m || v == m || a == m || b == m;
  });
  const Index v = partner_[m];
  measure(now, spreads, m);
  if (v >= 0) measure(now, spreads, v);
  offer_row(now, spreads, m, 0);
  if (v >= 0) {
    const double twice = this->twice(spreads);
    for (Index b = 0; b < now.size(); ++b) {
      if (!now.together(b, m)) offer(now, spreads, v, v, b, shared_[v] + spreads[b], twice);
    }
    offer_edge(now, spreads, m);
  }
  exists_ = !full_;
}

}  // namespace linkarms::psi
