#include "psi/search.hpp"

#include <algorithm>

#include "linkage/stretched.hpp"
#include "psi/ground_search.hpp"
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

std::unique_ptr<GroundSearch> make_ground_search(const Model& model, const SearchLimits& limits, double tolerance) {
  if (tolerance > 0.0) return std::make_unique<SearchOf<GeneralPairs>>(model, GeneralPairs(model, tolerance), limits);
  if (is_isotropic(model)) {
    return std::make_unique<SearchOf<IsotropicPairs>>(model, limits);
  }
  return std::make_unique<SearchOf<GeneralPairs>>(model, limits);
}

}  // namespace psi

std::unique_ptr<Search> make_search(const Model& model, const Task& task) {
  if (!task.distance) return psi::make_ground_search(model, {}, task.tolerance);
  if (is_isotropic(model)) return std::make_unique<psi::ThresholdSearch<IsotropicTwoArms>>(model, task);
  return std::make_unique<psi::ThresholdSearch<GeneralTwoArms>>(model, task);
}

PsiAnswer psi_from_scratch(const Model& model, const Matrix& theta, const Distances& dist, const Clusters& clusters, View weights,
                           Matrix& lam, MutView kl) {
  std::ranges::copy(theta.values(), lam.values().begin());
  std::ranges::fill(kl, 0.0);
  const psi::Surroundings around(dist, clusters);
  return psi::make_ground_search(model)->find({theta, dist, clusters, around.up, around.lengths, around.nearest}, weights,
                                              std::nullopt, lam, kl);
}

PsiAnswer psi_from_scratch(const Model& model, const Task& task, const Matrix& theta, const Distances& dist,
                           const Clusters& clusters, View weights, Matrix& lam, MutView kl) {
  if (!task.distance && task.tolerance == 0.0) return psi_from_scratch(model, theta, dist, clusters, weights, lam, kl);
  std::ranges::copy(theta.values(), lam.values().begin());
  std::ranges::fill(kl, 0.0);
  if (!task.distance) {
    Distances lengths(dist.size());
    stretch(dist, clusters, task.tolerance, lengths);
    const psi::Surroundings around(lengths, clusters);
    return psi::make_ground_search(model, {}, task.tolerance)
        ->find({theta, lengths, clusters, around.up, around.lengths, around.nearest}, weights, std::nullopt, lam, kl);
  }
  if (is_isotropic(model)) {
    return psi::ThresholdSearch<IsotropicTwoArms>(model, task).find(theta, dist, clusters, weights, std::nullopt, lam, kl);
  }
  return psi::ThresholdSearch<GeneralTwoArms>(model, task).find(theta, dist, clusters, weights, std::nullopt, lam, kl);
}

}  // namespace linkarms
