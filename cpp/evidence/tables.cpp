#include "evidence/tables.hpp"

#include <algorithm>
#include <stdexcept>

#include "evidence/one_sided_arm.hpp"

namespace linkarms {

ArmEvidence arm_evidence_kind(const Model& model, Index m) {
  const Arm& arm = model.arm(m);
  if (arm.has_covariance()) return ArmEvidence::gaussian;
  if (arm.is_categorical()) return ArmEvidence::prior;
  const auto& coordinates = arm.coordinates();
  if (std::ranges::all_of(coordinates, is<Gaussian>)) {
    return model.variances() == Variances::known ? ArmEvidence::gaussian : ArmEvidence::universal;
  }
  return coordinates.size() == 1 && !is<UserFamily>(coordinates[0]) ? ArmEvidence::mixture : ArmEvidence::prior;
}

bool arm_bets(const Model& model, Index m, int version) {
  return version >= 2 && model.arm(m).range().has_value();
}

bool evidence_has_scale(const Model& model, int version) {
  if (model.kind() == Kind::unknown_variance) return version >= 2;
  for (Index m = 0; m < model.n_arms(); ++m) {
    if (arm_bets(model, m, version)) continue;
    const ArmEvidence kind = arm_evidence_kind(model, m);
    if (kind == ArmEvidence::gaussian || kind == ArmEvidence::mixture) return true;
  }
  return false;
}

bool evidence_is_aligned(const Model& model, int version) {
  if (version < 2 || model.has_range() || model.n_arms() > most_aligned_arms) return false;
  if (model.kind() == Kind::isotropic) return true;
  if (model.kind() != Kind::covariance) return false;
  for (Index m = 0; m < model.n_arms(); ++m) {
    const Arm& arm = model.arm(m);
    const double uneven = arm.has_covariance() ? arm.covariance().largest_variance * arm.covariance().largest_precision : 1.0;
    if (uneven > most_uneven) return false;
  }
  return true;
}

bool evidence_is_one_sided(const Model& model, int version) {
  if (version < 2 || model.kind() != Kind::scalar || model.n_arms() > most_proved_arms) return false;
  for (Index m = 0; m < model.n_arms(); ++m) {
    if (!has_shifts(model.scalar(m))) return false;
  }
  return true;
}

ScaleTables::ScaleTables(const Model& model, std::vector<double> grid, double discount)
    : grid_(std::move(grid)), discount_(discount) {
  if (grid_.empty() || !std::ranges::all_of(grid_, [](double c) { return c > 0.0 && std::isfinite(c); })) {
    throw std::invalid_argument("the grid must hold at least one c, each above 0 and finite");
  }
  if (!(discount > 0.0)) throw std::invalid_argument("discount must be above 0");
  for (Index m = 0; m < model.n_arms(); ++m) kind_.push_back(arm_evidence_kind(model, m));
  smallest_ = static_cast<Index>(std::ranges::min_element(grid_) - grid_.begin());
  largest_ = static_cast<Index>(std::ranges::max_element(grid_) - grid_.begin());
  weight_ = spread_ = price_ = Matrix(size(), model.n_arms());
  forget();
}

void ScaleTables::forget() {
  filled_.assign(kind_.size(), 0);
}

void ScaleTables::refresh_all(const Samples& samples) {
  for (Index m = 0; m < samples.n_arms(); ++m) refresh(samples, m);
}

void ScaleTables::fill(const Samples& samples, Index m) {
  const Arm& arm = samples.model().arm(m);
  const View theta = samples.estimates().row(m);
  const auto n = static_cast<double>(samples.count(m));
  const bool gaussian = kind_[static_cast<std::size_t>(m)] == ArmEvidence::gaussian;
  const double variance = arm.variance(theta), regret = gaussian ? 0.0 : arm.regret(n, theta);
  for (Index j = 0; j < size(); ++j) {
    const double c = grid_[static_cast<std::size_t>(j)];
    weight_(j, m) = gaussian ? evidence_weight(n, c) : n;
    spread_(j, m) = variance / weight_(j, m);
    price_(j, m) = (gaussian ? evidence_price(n, c, samples.model().n_features()) : regret) / discount_;
  }
  filled_[static_cast<std::size_t>(m)] = samples.count(m);
}

}  // namespace linkarms
