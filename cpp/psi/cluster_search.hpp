// The incremental search for psi without a distance threshold, with what it remembers laid open for tests.
#pragma once

#include <vector>

#include "psi/clustered_arms.hpp"
#include "psi/search.hpp"
#include "psi/shortlist.hpp"

namespace linkarms::psi {

/// Sizes beyond which a search works in another way. Tests make them small, so that little problems take
/// every way.
struct SearchLimits {
  Index most_slots = 64;     ///< arms that one arm is attached to
  Index spare_listed = 64;   ///< candidates in a list, besides
  Index listed_per_arm = 4;  ///< so many for every arm
  Index classes_from = 64;   ///< from so many arms on, nearest arms are kept by class of spread
};

/// A copy of what a search has kept, for tests of its invariants.
struct SearchMemory {
  std::vector<double> spread;                    ///< of each arm
  double slack = 0.0, level = 0.0, least = 0.0;  ///< see `Spreads`
  std::vector<Index> parent;                     ///< see `ClusterTrees`
  std::vector<double> length;
  bool has_attachments = false;  ///< see `Attachments`
  MatrixOf<Index> attached;      ///< negative for arms of one cluster, and for arms alone
  Matrix bound, block_bound;
  std::vector<double> least_bound;
  Matrix nearest;  ///< see `NearestBySpread`
  std::vector<Index> class_of;
  bool has_list = false;  ///< see `Shortlist`
  double list_level = 0.0;
  std::vector<Shortlist::Listed> listed;
};

/// A search for psi of clusters against inter pairs.
class ClusterSearch : public Search {
 public:
  /// For tests: what has been kept, and V_k(a,b) up to `level` with nothing known, in one of two ways.
  [[nodiscard]] virtual SearchMemory memory(const Clusters& clusters) const = 0;
  virtual EdgeCost bottleneck(const ClusteredArms& now, View weights, const Candidate& of, double level, bool by_exchange) = 0;
};

/// With a tolerance, the lengths between clusters come stretched by it (linkage/stretched.hpp).
[[nodiscard]] std::unique_ptr<ClusterSearch> make_cluster_search(const Model& model, const SearchLimits& limits = {},
                                                                 double tolerance = 0.0);

}  // namespace linkarms::psi
