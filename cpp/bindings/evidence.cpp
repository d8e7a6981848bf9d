// The union bound and the evidence against one pair of pairs, for tests.
#include <nanobind/stl/array.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "bindings/module.hpp"
#include "bindings/named.hpp"
#include "evidence/averaged.hpp"
#include "evidence/union.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace linkarms::bindings {

void bind_evidence(nb::module_& testing) {
  testing.def("count_sets", &count_sets, "n_arms"_a);
  testing.def(
      "count_events",
      [](Index n_arms, Index n_clusters, std::string_view promise, bool tolerant, bool pieces) {
        const Question question{named(promise_names, "promise", promise), tolerant};
        std::vector<std::tuple<double, double>> out;
        for (const auto [pairs, rest] :
             count_events(question, n_arms, n_clusters, pieces ? EvidenceUnit::piece : EvidenceUnit::set)) {
          out.emplace_back(pairs, rest);
        }
        return out;
      },
      "n_arms"_a, "n_clusters"_a, nb::kw_only(), "promise"_a = "clusters", "tolerant"_a = false, "pieces"_a = true);
  testing.def(
      "union_base",
      [](Index n_arms, Index n_clusters, bool pieces, Index largest_cluster) {
        return UnionBound({}, n_arms, n_clusters, pieces ? EvidenceUnit::piece : EvidenceUnit::set).base(largest_cluster);
      },
      "n_arms"_a, "n_clusters"_a, "pieces"_a, "largest_cluster"_a);
  testing.def(
      "pair_shifts",
      [](double p, double q, double r, bool shared, const std::array<double, 4>& spread) {
        const PairShifts found = pair_shifts({p, q, r, shared}, spread);
        return std::tuple(found.cost, found.square);
      },
      "p"_a, "q"_a, "r"_a, "shared"_a, "spread"_a);
  testing.def(
      "average_over_grid",
      [](double p, double q, double r, bool shared, const std::vector<std::array<double, 4>>& weights,
         const std::vector<double>& prices, double enough, double too_little) {
        std::vector<GridTerms> grid;
        for (std::size_t j = 0; j < weights.size(); ++j) grid.push_back({weights[j], prices.at(j)});
        const GridAverage found = average_over_grid({p, q, r, shared}, grid, enough, too_little);
        return std::tuple(found.lower, found.upper, found.share);
      },
      "p"_a, "q"_a, "r"_a, "shared"_a, "weights"_a, "prices"_a, "enough"_a, "too_little"_a);
}

}  // namespace linkarms::bindings
