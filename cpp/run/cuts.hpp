// The cuts of the estimates into every number of clusters, and which of them are certain (section 7.2 of math.md).
//
// The union of 7.2 speaks of the true parameters alone; K and the partition do not occur in it. So with probability at
// least 1 - delta, for all samples and all K together, every cut whose statistic has reached the level is the true one.
#pragma once

#include <vector>

#include "evidence/anytime.hpp"

namespace linkarms {

struct CertifiedCut {
  Index n_clusters;
  std::vector<Index> labels;  ///< 0..K-1 in order of first appearance
};

/// The cuts into 2 to M - 1 clusters against which no candidate is below `level`, the fewest clusters first. `now` says what
/// the samples are; its partition is not read. Ambiguous cuts are never certain.
[[nodiscard]] std::vector<CertifiedCut> certified_cuts(const Situation& now, AnytimeEvidence& evidence, double level);

}  // namespace linkarms
