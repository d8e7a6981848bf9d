// What a search has kept, copied for tests.
#pragma once

#include "psi/search_of.hpp"

namespace linkarms::psi {

template <class Problem>
SearchMemory SearchOf<Problem>::memory(const Clusters& clusters) const {
  const Index n = model_->n_arms();
  SearchMemory found;
  found.spread.assign(spreads_.values().begin(), spreads_.values().end());
  found.slack = spreads_.slack();
  found.level = spreads_.level();
  found.least = spreads_.least();
  for (Index m = 0; m < n; ++m) {
    found.parent.push_back(trees_.parent(m));
    found.length.push_back(trees_.length(m));
    found.class_of.push_back(near_.class_of(m));
    found.least_bound.push_back(attachments_.least(m));
  }
  found.has_list = list_.exists();
  found.list_level = list_.level();
  if (found.has_list) found.listed = list_.entries();
  found.has_attachments = attachments_.made();
  if (!found.has_attachments) return found;
  found.attached = MatrixOf<Index>(n, n, -1);
  found.bound = found.block_bound = Matrix(n, n, inf);
  for (Index u = 0; u < n; ++u) {
    if (clusters.size(clusters.label(u)) == 1) continue;
    for (Index b = 0; b < n; ++b) {
      if (clusters.together(u, b)) continue;
      found.attached(u, b) = attachments_.arm(u, b);
      found.bound(u, b) = attachments_.bound(u, b);
      found.block_bound(u, b) = attachments_.block_bound(u, b);
    }
  }
  found.nearest = Matrix(near_.n_classes(), n);
  for (Index c = 0; c < near_.n_classes(); ++c) {
    for (Index m = 0; m < n; ++m) found.nearest(c, m) = near_.bound(c, m);
  }
  return found;
}

template <class Problem>
EdgeCost SearchOf<Problem>::bottleneck(const ClusteredArms& now, View weights, const Candidate& of, double level,
                                       bool by_exchange) {
  forget();
  spreads_.assign(problem_, now.theta, weights, std::nullopt);
  spreads_.fit(problem_, now.theta, level < inf ? level : 1.0);
  trees_.fit(now);
  const C costs{now, spreads_, problem_, evaluated_};
  const auto [value, k, a, b, edge] = of;
  if (by_exchange) return bottleneck_.by_exchange(costs, trees_, k, a, b, level, false);
  return *bottleneck_.below(costs, trees_, k, a, b, level, now.size());
}

}  // namespace linkarms::psi
