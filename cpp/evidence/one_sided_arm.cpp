#include "evidence/one_sided_arm.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "family/counts.hpp"

namespace linkarms {
namespace {

/// The smallest shift, and what each is to the one before.
constexpr double smallest = 5e-5, step = 1.3;
/// The weight of no shift.
constexpr double still = 0.02;
/// How fast weights fall on both sides of their scale.
constexpr double power = 3.0;
/// A ratio is at most the exponential of this.
constexpr double most = 30.0;

Shifts make_shifts() {
  Shifts out{};
  double h = smallest;
  for (std::size_t i = 1; i < n_shifts; ++i, h *= step) out[i] = h;
  return out;
}

}  // namespace

const Shifts& ShiftPrior::shifts() {
  static const Shifts made = make_shifts();
  return made;
}

ShiftPrior::ShiftPrior(const std::vector<double>& grid, double discount) : discount_(discount) {
  if (grid.empty() || !std::ranges::all_of(grid, [](double c) { return c > 0.0 && std::isfinite(c); })) {
    throw std::invalid_argument("the grid must hold at least one c, each above 0 and finite");
  }
  if (!(discount > 0.0)) throw std::invalid_argument("discount must be above 0");
  for (const double c : grid) {
    Shifts& weight = weights_.emplace_back();
    double total = 0.0;
    for (std::size_t i = 1; i < n_shifts; ++i) {
      const double h = shifts()[i] * std::sqrt(c);
      total += weight[i] = std::pow(2.0 / (h + 1.0 / h), power);
    }
    for (double& x : weight) x *= (1.0 - still) / total;
    weight[0] = still;
    for (double& x : weight) x = std::pow(x, 1.0 / discount);
  }
}

double ShiftPrior::log_mass(double mass) const {
  return std::log(mass / static_cast<double>(components())) / discount_;
}

double ShiftPrior::log_still() const {
  return std::log(still) / discount_;
}

bool has_shifts(const Scalar& family) {
  return is<GammaRate>(family) || is<Poisson>(family) || is<Bernoulli>(family);
}

ShiftedArm::ShiftedArm(const Scalar& family) : family_(family), kind_(is<Bernoulli>(family) ? Kind::odds : Kind::linear) {
  if (!has_shifts(family)) throw std::invalid_argument("one-sided mixtures are for gamma rates, Poisson and Bernoulli arms");
  const auto* gamma = std::get_if<GammaRate>(&family);
  const double unit = gamma ? 1.0 / std::sqrt(gamma->shape) : kind_ == Kind::odds ? 2.0 : 1.0;
  for (std::size_t i = 0; i < n_shifts; ++i) {
    const double theta = std::min(ShiftPrior::shifts()[i] * unit, most);
    above_.log[i] = theta;
    above_.less_one[i] = std::expm1(theta);
    below_.log[i] = -theta;
    below_.less_one[i] = std::expm1(-theta);
  }
}

void ShiftedArm::set(double count, double mean) {
  if (const auto* gamma = std::get_if<GammaRate>(&family_)) {
    power_ = gamma->shape * count;
    rate_ = std::max(count * mean, tiny);
    centre_ = power_ / rate_;
    variance_ = centre_ * centre_ / power_;
    scale_ = 1.0;
    return;
  }
  power_ = count_of(count, mean);
  rate_ = count;
  if (kind_ == Kind::odds) {
    centre_ = (power_ + 0.5) / (count + 1.0);
    variance_ = centre_ * (1.0 - centre_) / count;
    scale_ = 4.0 * centre_ * (1.0 - centre_);
  } else {
    centre_ = (power_ + 0.5) / count;
    variance_ = centre_ / count;
    scale_ = centre_;
  }
}

double ShiftedArm::fill(Side side, double lam, Shifts& out) const {
  const auto& [log, less_one] = ratios(side);
  for (std::size_t i = 0; i < n_shifts; ++i) {
    const double cost = kind_ == Kind::linear ? lam * less_one[i] : std::log1p(lam * less_one[i]);
    out[i] = power_ * log[i] - rate_ * cost;
  }
  const double top = *std::ranges::max_element(out);
  for (double& x : out) x = std::exp(x - top);
  return top;
}

void ShiftedArm::values(const ShiftPrior& prior, Side side, double lam, std::vector<double>& out) const {
  Shifts ratio;
  const double top = fill(side, lam, ratio);
  out.resize(prior.components());
  for (std::size_t j = 0; j < out.size(); ++j) {
    out[j] = top + std::log(std::inner_product(ratio.begin(), ratio.end(), prior.weights(j).begin(), 0.0));
  }
}

void ShiftedArm::terms(const ShiftPrior& prior, Side side, double lam, ShiftTerms& out) const {
  const Shifts& less_one = ratios(side).less_one;
  Shifts ratio, slope, bend;  // of each likelihood ratio: its slope in lam, and the square of that with its own curvature
  const double top = fill(side, lam, ratio), own = kind_ == Kind::linear ? 1.0 : 1.0 + 1.0 / rate_;
  for (std::size_t i = 0; i < n_shifts; ++i) {
    slope[i] = -rate_ * less_one[i] / (kind_ == Kind::linear ? 1.0 : 1.0 + lam * less_one[i]);
    bend[i] = own * slope[i] * slope[i];
  }
  for (auto* x : {&out.value, &out.slope, &out.curvature}) x->resize(prior.components());
  for (std::size_t j = 0; j < prior.components(); ++j) {
    const Shifts& weight = prior.weights(j);
    double total = 0.0, first = 0.0, second = 0.0;
    for (std::size_t i = 0; i < n_shifts; ++i) {
      const double mass = weight[i] * ratio[i];
      total += mass;
      first += mass * slope[i];
      second += mass * bend[i];
    }
    const double mean = first / total;
    out.value[j] = top + std::log(total);
    out.slope[j] = mean;
    out.curvature[j] = std::max(second / total - mean * mean, 0.0);
  }
}

}  // namespace linkarms
