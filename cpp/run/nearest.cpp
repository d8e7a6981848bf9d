#include "run/nearest.hpp"

#include <algorithm>
#include <array>

namespace linkarms {

Nearest::Nearest(const Model& model, Index n_clusters)
    : search_(make_search(model, n_clusters)),
      lam_(model.n_arms(), model.n_features()),
      kl_(static_cast<std::size_t>(model.n_arms())),
      weights_(static_cast<std::size_t>(model.n_arms())) {}

void Nearest::stay(const Matrix& theta, Index m) {
  kl_[m] = 0.0;
  std::ranges::copy(theta.row(m), lam_.row(m).begin());
}

void Nearest::follow(const Matrix& theta, Index m) {
  stay(theta, m);
}

void Nearest::forget(const Matrix& theta) {
  search_->forget();
  answer_ = PsiAnswer{};
  for (Index m = 0; m < theta.rows(); ++m) stay(theta, m);
}

void Nearest::find(const Matrix& theta, const Distances& dist, const Partition& partition, std::optional<Index> moved) {
  const Witness last = answer_.witness;
  if (last.exists()) {
    for (const Index m : {last.u, last.v, last.a, last.b}) stay(theta, m);
  }
  answer_ = search_->at(theta, dist, partition, weights_, moved, lam_, kl_);
}

}  // namespace linkarms
