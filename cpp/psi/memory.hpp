// What a search has kept, copied for tests.
#pragma once

#include <array>
#include <utility>

#include "psi/search_of.hpp"

namespace linkarms::psi {

template <class Problem>
SearchMemory SearchOf<Problem>::memory(const Clusters& clusters) const {
  const Index n = model_->n_arms();
  const auto each = [n](auto value) {
    std::vector<decltype(value(0))> found;
    for (Index m = 0; m < n; ++m) found.push_back(value(m));
    return found;
  };
  SearchMemory found{{"spread", each([&](Index m) { return spreads_[m]; })},
                     {"slack", spreads_.slack()},
                     {"level", spreads_.level()},
                     {"least", spreads_.least()},
                     {"parent", each([&](Index m) { return trees_.parent(m); })},
                     {"length", each([&](Index m) { return trees_.length(m); })}};
  if (list_.exists()) {
    Matrix listed(static_cast<Index>(list_.entries().size()), 6);
    for (Index i = 0; i < listed.rows(); ++i) {
      const auto& [w, cost, known] = list_.entries()[i];
      std::ranges::copy(std::array<double, 6>{1.0 * w.u, 1.0 * w.v, 1.0 * w.a, 1.0 * w.b, cost, known ? 1.0 : 0.0},
                        listed.row(i).begin());
    }
    found["listed"] = std::move(listed);
    found["list_level"] = list_.level();
  }
  if (!attachments_.made()) return found;
  Matrix attached(n, n, -1.0), bound(n, n, inf), block_bound(n, n, inf), nearest(near_.n_classes(), n);
  for (Index u = 0; u < n; ++u) {
    for (Index c = 0; c < near_.n_classes(); ++c) nearest(c, u) = near_.bound(c, u);
    for (Index b = 0; b < n; ++b) {
      if (clusters.size(clusters.label(u)) == 1 || clusters.together(u, b)) continue;
      attached(u, b) = attachments_.arm(u, b);
      bound(u, b) = attachments_.bound(u, b);
      block_bound(u, b) = attachments_.block_bound(u, b);
    }
  }
  found["attached"] = std::move(attached);
  found["bound"] = std::move(bound);
  found["block_bound"] = std::move(block_bound);
  found["least_bound"] = each([&](Index m) { return attachments_.least(m); });
  found["nearest"] = std::move(nearest);
  found["class_of"] = each([&](Index m) { return near_.class_of(m); });
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
