#include "psi/search.hpp"

#include <algorithm>
#include <utility>

#include "linkage/stretched.hpp"
#include "psi/cluster_search.hpp"
#include "psi/search_of.hpp"
#include "psi/threshold_search.hpp"

namespace linkarms {

namespace {

bool is_isotropic(const Model& model) {
  return model.kind() == Kind::isotropic || model.kind() == Kind::unknown_variance;
}

}  // namespace

namespace psi {

extern template class SearchOf<IsotropicPairs>;
extern template class SearchOf<GeneralPairs>;

std::unique_ptr<ClusterSearch> make_cluster_search(const Model& model, const SearchLimits& limits, double tolerance) {
  if (is_isotropic(model) && tolerance == 0.0) return std::make_unique<SearchOf<IsotropicPairs>>(model, limits);
  return std::make_unique<SearchOf<GeneralPairs>>(model, GeneralPairs(model, tolerance), limits);
}

}  // namespace psi

std::unique_ptr<Search> make_search(const Model& model, const Task& task) {
  if (!task.distance) return psi::make_cluster_search(model, {}, task.tolerance);
  if (is_isotropic(model)) return std::make_unique<psi::ThresholdSearch<IsotropicTwoArms>>(model, task);
  return std::make_unique<psi::ThresholdSearch<GeneralTwoArms>>(model, task);
}

PsiAnswer psi_from_scratch(const Model& model, const Task& task, const Matrix& theta, const Distances& dist, Clusters clusters,
                           View weights, Matrix& lam, MutView kl) {
  std::ranges::copy(theta.values(), lam.values().begin());
  std::ranges::fill(kl, 0.0);
  Distances lengths(dist);
  if (!task.distance && task.tolerance > 0.0) stretch(dist, clusters, task.tolerance, lengths);
  const GivenClusters given(lengths, std::move(clusters));
  return make_search(model, task)->find(given.at(theta, lengths), weights, std::nullopt, lam, kl);
}

}  // namespace linkarms
