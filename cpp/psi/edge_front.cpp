#include "psi/edge_front.hpp"

#include <algorithm>
#include <cmath>

namespace linkarms::psi {

void EdgeFront::make(const ClusterTrees& trees, const NearestBySpread& near, const Spreads& spreads, double twice) {
  const Index n = static_cast<Index>(spreads.values().size()), steps = std::min(n_steps, n);
  const double widest = 2.0 * near.widest(), scale = widest > 0.0 ? (steps - 1) / widest : 0.0;
  std::array<Step, n_steps> buckets{};
  for (Index x = 0; x < n; ++x) {
    if (trees.parent(x) < 0) continue;
    const double spread = spreads[x] + spreads[trees.parent(x)];
    // (of spreads near the smallest number the scale is infinite, and the product may be no number)
    const double at = spread * scale;
    Step& step = buckets[at < steps - 1 ? static_cast<Index>(at) : steps - 1];
    // (branches that are seldom taken)
    if (trees.length(x) + spreads.slack() > step.length) step.length = trees.length(x) + spreads.slack();
    if (spread > step.spread) step.spread = spread;
  }
  // from the widest on, those that are longer than all before
  size_ = 0;
  double longest = -1.0;
  for (Index i = steps - 1; i >= 0; --i) {
    if (buckets[i].length <= longest) continue;
    longest = buckets[i].length;
    edges_[size_++] = buckets[i];
  }

  std::fill(longest_.begin(), longest_.end(), -1.0);
  for (Index c = 0; c < near.n_classes(); ++c) {
    for (Index k = 0; k <= c; ++k) {
      double reach = -1.0;
      for (Index i = 0; i < size_ && near.top(c) >= 0.0 && near.top(k) >= 0.0; ++i) {
        const double room_to_move = std::sqrt(twice * (edges_[i].spread + near.top(c) + near.top(k)));
        reach = std::max(reach, edges_[i].length + room_to_move);
      }
      // (the square root is rounded, and a pair of no length counts as short)
      reach_(c, k) = reach_(k, c) = reach * (1.0 + 1e-14);
      longest_[c] = std::max(longest_[c], reach_(c, k));
      longest_[k] = std::max(longest_[k], reach_(c, k));
    }
  }
}

bool EdgeFront::row_reaches(const NearestBySpread& near, Index a, double nearest) const {
  const Index own = near.class_of(a);
  if (nearest * shrink > longest_[own]) return false;
  for (Index c = 0; c < near.n_classes(); ++c) {
    if (near.bound(c, a) * shrink <= reach_(own, c)) return true;
  }
  return false;
}

}  // namespace linkarms::psi
