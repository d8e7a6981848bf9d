#include "psi/search.hpp"

#include <algorithm>

#include "psi/ground_search.hpp"
#include "psi/search_of.hpp"

namespace linkarms {

namespace psi {

extern template class SearchOf<IsotropicPairs>;
extern template class SearchOf<GeneralPairs>;

std::unique_ptr<GroundSearch> make_ground_search(const Model& model, const SearchLimits& limits) {
  if (model.kind() == Kind::isotropic || model.kind() == Kind::unknown_variance) {
    return std::make_unique<SearchOf<IsotropicPairs>>(model, limits);
  }
  return std::make_unique<SearchOf<GeneralPairs>>(model, limits);
}

}  // namespace psi

std::unique_ptr<Search> make_search(const Model& model, Index) {
  return psi::make_ground_search(model);
}

PsiAnswer psi_from_scratch(const Model& model, const Matrix& theta, const Distances& dist, const Clusters& clusters, View weights,
                           Matrix& lam, MutView kl) {
  std::ranges::copy(theta.values(), lam.values().begin());
  std::ranges::fill(kl, 0.0);
  const psi::Surroundings around(dist, clusters);
  return psi::make_ground_search(model)->find({theta, dist, clusters, around.up, around.lengths, around.nearest}, weights,
                                              std::nullopt, lam, kl);
}

}  // namespace linkarms
