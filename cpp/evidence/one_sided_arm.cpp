#include "evidence/one_sided_arm.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "family/counts.hpp"

namespace linkarms {
namespace {

/// The smallest shift, and what each is to the one before.
constexpr double smallest = 5e-5, step = 1.15;
/// The weight of no shift.
constexpr double still = 0.02;
/// How fast weights fall on both sides of their scale.
constexpr double power = 3.0;
/// A ratio is at most the exponential of this.
constexpr double most = 30.0;
/// A likelihood ratio below the largest by more than this, in logs, is left out. No weight of the default grid is below 8e-15, so
/// what is left out is less than 2e-12 of the sum.
constexpr double negligible = 60.0;
/// So many sums are made side by side: the processor need not wait for one addition before it begins the next.
constexpr std::size_t lanes = 4;
static_assert(n_shifts % lanes == 0);

Shifts make_shifts() {
  Shifts out{};
  double h = smallest;
  for (std::size_t i = 1; i < n_shifts; ++i, h *= step) out[i] = h;
  return out;
}

double sum(const std::array<double, lanes>& x) {
  return (x[0] + x[1]) + (x[2] + x[3]);
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

// The log of the ratio is concave in theta: what comes after one that is negligible is, too.
ShiftedArm::Window ShiftedArm::fill(Side side, double lam, Shifts& out) const {
  const auto& [log, less_one] = ratios(side);
  Window window{0, 0, -inf};
  while (window.last < n_shifts) {
    const std::size_t i = window.last;
    const double cost = kind_ == Kind::linear ? lam * less_one[i] : std::log1p(lam * less_one[i]);
    out[i] = power_ * log[i] - rate_ * cost;
    if (out[i] < window.top - negligible) break;
    window.top = std::max(window.top, out[i]);
    ++window.last;
  }
  while (out[window.first] < window.top - negligible) ++window.first;
  for (std::size_t i = window.first; i < window.last; ++i) out[i] = std::exp(out[i] - window.top);
  // whole lanes
  for (; window.first % lanes != 0;) out[--window.first] = 0.0;
  for (; window.last % lanes != 0;) out[window.last++] = 0.0;
  return window;
}

void ShiftedArm::values(const ShiftPrior& prior, Side side, double lam, std::vector<double>& out) const {
  Shifts ratio;
  const Window window = fill(side, lam, ratio);
  out.resize(prior.components());
  for (std::size_t j = 0; j < out.size(); ++j) {
    const Shifts& weight = prior.weights(j);
    std::array<double, lanes> total{};
    for (std::size_t i = window.first; i < window.last; i += lanes) {
      for (std::size_t k = 0; k < lanes; ++k) total[k] += weight[i + k] * ratio[i + k];
    }
    out[j] = window.top + std::log(sum(total));
  }
}

void ShiftedArm::terms(const ShiftPrior& prior, Side side, double lam, ShiftTerms& out) const {
  const Shifts& less_one = ratios(side).less_one;
  Shifts ratio, slope, bend;  // each likelihood ratio, and its derivatives in lam
  const Window window = fill(side, lam, ratio);
  const double own = kind_ == Kind::linear ? 1.0 : 1.0 + 1.0 / rate_;
  for (std::size_t i = window.first; i < window.last; ++i) {
    const double one = -rate_ * less_one[i] / (kind_ == Kind::linear ? 1.0 : 1.0 + lam * less_one[i]);
    slope[i] = ratio[i] * one;
    bend[i] = own * slope[i] * one;
  }
  for (auto* x : {&out.value, &out.slope, &out.curvature}) x->resize(prior.components());
  for (std::size_t j = 0; j < prior.components(); ++j) {
    const Shifts& weight = prior.weights(j);
    std::array<double, lanes> total{}, first{}, second{};
    for (std::size_t i = window.first; i < window.last; i += lanes) {
      for (std::size_t k = 0; k < lanes; ++k) {
        total[k] += weight[i + k] * ratio[i + k];
        first[k] += weight[i + k] * slope[i + k];
        second[k] += weight[i + k] * bend[i + k];
      }
    }
    const double whole = sum(total), mean = sum(first) / whole;
    out.value[j] = window.top + std::log(whole);
    out.slope[j] = mean;
    out.curvature[j] = std::max(sum(second) / whole - mean * mean, 0.0);
  }
}

}  // namespace linkarms
