#include "evidence/scalar_arms.hpp"

#include <utility>

namespace linkarms {
namespace {

/// What bets on a bounded arm have won.
Wealth wealth(const Samples& samples, Index m) {
  return {*samples.model().arm(m).range(), samples.knots()[static_cast<std::size_t>(m)].all()};
}

}  // namespace

ScalarArms::ScalarArms(const Model& model, std::vector<double> grid, double discount)
    : model_(&model), grid_(std::move(grid)), discount_(discount) {
  for (Index m = 0; m < model.n_arms(); ++m) kind_.push_back(arm_evidence_kind(model, m));
  forget();
}

void ScalarArms::forget() {
  entries_.assign(grid_.size() * kind_.size(), {});
}

void ScalarArms::sampled(const Samples& samples, Index m) {
  if (kind_[m] == ArmEvidence::prior) (void)entry(samples, 0, m);
}

const ScalarArms::Entry& ScalarArms::entry(const Samples& samples, Index j, Index m) {
  const auto at = [&](Index i) -> Entry& {
    return entries_[static_cast<std::size_t>(i) * kind_.size() + static_cast<std::size_t>(m)];
  };
  if (at(j).count == samples.count(m)) return at(j);
  const Scalar& family = model_->scalar(m);
  const double mean = samples.mean(m)[0], theta = samples.estimates()(m, 0);
  const auto n = static_cast<double>(samples.count(m));
  if (samples.has_knots(m)) {  // bets have no c
    const Mixture bets{Bets(wealth(samples, m))};
    for (Index i = 0; i < static_cast<Index>(grid_.size()); ++i) {
      at(i) = {samples.count(m), 1.0, bets.minimiser(), -bets.minimum() / discount_, bets};
    }
    return at(j);
  }
  if (kind_[m] == ArmEvidence::mixture) {  // its minimiser takes a search: only for the c that is asked for
    Mixture mixture(family, n, mean, grid_[j]);
    at(j) = {samples.count(m), 1.0, mixture.minimiser(), -mixture.minimum() / discount_, mixture};
    return at(j);
  }
  const bool gaussian = kind_[m] == ArmEvidence::gaussian;
  const double regret = gaussian ? 0.0 : model_->arm(m).regret(n, samples.estimates().row(m));
  for (Index i = 0; i < static_cast<Index>(grid_.size()); ++i) {
    const double c = grid_[i];
    at(i) = {samples.count(m), gaussian ? evidence_weight(n, c) : n, theta,
             (gaussian ? evidence_price(n, c, 1) : regret) / discount_, std::nullopt};
  }
  return at(j);
}

Number ScalarArms::number(const Samples& samples, Index j, Index m) {
  const Entry& e = entry(samples, j, m);
  Number x{.theta = e.low, .weight = e.weight, .kind = &model_->scalar(m)};
  if (e.mixture) x.kind = &*e.mixture;
  x.lam = e.low;
  return x;
}

double ScalarArms::evidence(const Samples& samples, Index j, Index m, double lam) {
  if (samples.has_knots(m) && discount_ == 1.0) return wealth(samples, m).log_evidence(lam);
  if (kind_[m] == ArmEvidence::mixture && discount_ == 1.0) {
    return log_evidence(model_->scalar(m), static_cast<double>(samples.count(m)), samples.mean(m)[0], lam, grid_[j]);
  }
  const Entry& e = entry(samples, j, m);
  return e.weight * number(samples, j, m).cost(lam) - e.price;
}

}  // namespace linkarms
