// Which arms were together and are no longer, when the partition has changed.
#pragma once

#include <vector>

#include "linkage/partition.hpp"
#include "math/matrix.hpp"

namespace linkarms::psi {

/// A cluster of the partition before whose arms are in several clusters now.
struct BrokenCluster {
  std::vector<Index> arms;
  std::vector<Index> left;  ///< those that are not in `main`, the cluster that most of them are in
  Index main;
};

/// What has changed between two partitions. Clusters that are as they were, or have only become part of
/// another, do not appear.
struct Regrouping {
  std::vector<BrokenCluster> broken;
  std::vector<Index> alone;  ///< arms that were alone

  Regrouping(const Clusters& before, const Clusters& now);
};

}  // namespace linkarms::psi
