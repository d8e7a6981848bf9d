#include "psi/regrouping.hpp"

#include <algorithm>

namespace linkarms::psi {

Regrouping::Regrouping(const Clusters& before, const Clusters& now) {
  std::vector<Index> size(static_cast<std::size_t>(now.n_clusters()));
  for (Index k = 0; k < before.n_clusters(); ++k) {
    const auto arms = before.members(k);
    if (arms.size() == 1) {
      alone.push_back(arms.front());
    } else if (!std::ranges::all_of(arms, [&](Index m) { return now.together(m, arms.front()); })) {
      BrokenCluster cluster{{arms.begin(), arms.end()}, {}, -1};
      std::ranges::fill(size, 0);
      for (const Index m : arms) ++size[now.label(m)];
      cluster.main = static_cast<Index>(std::ranges::max_element(size) - size.begin());
      for (const Index m : arms) {
        if (now.label(m) != cluster.main) cluster.left.push_back(m);
      }
      broken.push_back(std::move(cluster));
    }
  }
}

}  // namespace linkarms::psi
