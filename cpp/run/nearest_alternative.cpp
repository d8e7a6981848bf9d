#include "run/nearest_alternative.hpp"

#include <algorithm>

namespace linkarms {

NearestAlternative::NearestAlternative(const Model& model, const Task& task)
    : search_(make_search(model, task)),
      lam_(model.n_arms(), model.n_features()),
      kl_(static_cast<std::size_t>(model.n_arms())),
      weights_(static_cast<std::size_t>(model.n_arms())) {}

void NearestAlternative::follow(const Matrix& theta, Index m) {
  kl_[m] = 0.0;
  std::ranges::copy(theta.row(m), lam_.row(m).begin());
}

void NearestAlternative::forget(const Matrix& theta) {
  search_->forget();
  answer_ = PsiAnswer{};
  for (Index m = 0; m < theta.rows(); ++m) follow(theta, m);
}

void NearestAlternative::find(const ClusteredArms& now, std::optional<Index> moved) {
  for (const Index m : answer_.witness.arms()) follow(now.theta, m);
  answer_ = search_->find(now, weights_, moved, lam_, kl_);
}

}  // namespace linkarms
