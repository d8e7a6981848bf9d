#include "family/model.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace linkarms {

namespace {

Kind kind_of(const std::vector<Arm>& arms, Index n_features, Variances variances) {
  if (variances != Variances::known) return Kind::unknown_variance;
  if (std::ranges::all_of(arms, &Arm::is_isotropic)) return Kind::isotropic;
  if (n_features == 1) return Kind::scalar;
  const auto gaussian = [](const Arm& arm) { return arm.is_isotropic() || arm.has_covariance(); };
  return std::ranges::all_of(arms, gaussian) ? Kind::covariance : Kind::vector;
}

bool is_users(const Arm& arm) {
  return arm.has_coordinates() && std::ranges::any_of(arm.coordinates(), is<UserFamily>);
}

}  // namespace

Model::Model(std::vector<Arm> arms, Index n_features, Variances variances)
    : arms_(std::move(arms)),
      n_features_(n_features),
      variances_(variances),
      kind_(kind_of(arms_, n_features, variances)),
      has_user_family_(std::ranges::any_of(arms_, is_users)),
      has_range_(std::ranges::any_of(arms_, [](const Arm& arm) { return arm.range().has_value(); })) {
  if (arms_.empty()) throw std::invalid_argument("there are no arms; give at least one");
  for (std::size_t m = 0; m < arms_.size(); ++m) {
    if (arms_[m].dimension() != n_features) {
      throw std::invalid_argument("arm " + std::to_string(m) + " has " + std::to_string(arms_[m].dimension()) +
                                  " features and n_features=" + std::to_string(n_features) + "; make them equal");
    }
  }
  const auto categorical = std::ranges::count_if(arms_, &Arm::is_categorical);
  if (categorical != 0 && categorical != n_arms()) {
    throw std::invalid_argument("categorical arms cannot be mixed with other families; give all arms one kind");
  }
  if (variances != Variances::known && !std::ranges::all_of(arms_, &Arm::is_isotropic)) {
    throw std::invalid_argument("arms of unknown variance cannot be mixed with others; give all arms one kind");
  }
}

Index Model::chart_dimension() const {
  return arms_.front().is_categorical() ? n_features_ - 1 : n_features_;
}

}  // namespace linkarms
