// The incremental search for psi without a distance threshold, with what it remembers laid open for tests.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "psi/candidate.hpp"
#include "psi/clustered_arms.hpp"
#include "psi/search.hpp"

namespace linkarms::psi {

/// Sizes beyond which a search works in another way. Tests make them small, so that little problems take
/// every way.
struct SearchLimits {
  Index most_slots = 64;     ///< arms that one arm is attached to
  Index spare_listed = 64;   ///< candidates in a list, besides
  Index listed_per_arm = 4;  ///< so many for every arm
  Index classes_from = 64;   ///< from so many arms on, nearest arms are kept by class of spread
};

/// A copy of what a search has kept, by name, for tests of its invariants: see `Spreads`, `ClusterTrees`, `Attachments` (negative
/// where an arm has none), `NearestBySpread` and `Shortlist` (one row per candidate: u, v, a, b, cost, whether it is known).
using SearchMemory = std::map<std::string, std::variant<double, std::vector<double>, std::vector<Index>, Matrix>>;

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
