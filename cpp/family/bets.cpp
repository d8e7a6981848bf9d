#include "family/bets.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace linkarms {
namespace {

/// Knots that are bet on: more take time and gain next to nothing.
constexpr std::size_t most_knots = 32;
/// Roots are found to a relative precision down to this: l has reached any level there.
constexpr double smallest = 1e-30;

}  // namespace

Wealth::Wealth(const SampleBounds& bounds, std::span<const Knot> knots) : bounds_(bounds) {
  for (const Knot& knot : coarsened(knots, most_knots)) {
    masses_.push_back({static_cast<double>(knot.place) / Knots::most, knot.weight});
    count_ += knot.weight;
    mean_ += knot.weight * masses_.back().y;
  }
  mean_ /= count_;
}

// With F = (1 - f) + f y/m and N = m F, the slope of log F is -f y / (m N) and its bend f y / (m N) (1/m + (1 - f)/N). (As
// differences, 1/m against (1 - f)/N, both are lost where m is near the end at which most samples are.)
Wealth::Value Wealth::product(double fraction, double m, bool from_above) const {
  const double rest = 1.0 - fraction;
  if (m == 0.0) return {count_ * std::log(rest), 0.0, 0.0};  // every sample is at this end
  Value out{0.0, 0.0, 0.0};
  for (const Mass& mass : masses_) {
    const double bet = fraction * (from_above ? 1.0 - mass.y : mass.y), n = rest * m + bet, less = bet / (m * n);
    out.value += mass.weight * std::log(rest + bet / m);
    out.slope -= mass.weight * less;
    out.bend += mass.weight * less * (1.0 / m + rest / n);
  }
  return out;
}

Wealth::Value Wealth::at(double m) const {
  if (!(m >= 0.0 && m <= 1.0)) return {inf, m < 0.5 ? -inf : inf, inf};
  if (m == 0.0 && masses_.back().y > 0.0) return {inf, -inf, inf};
  if (m == 1.0 && masses_.front().y < 1.0) return {inf, inf, inf};
  std::array<Value, 2 * fractions.size()> parts;
  for (std::size_t j = 0; j < fractions.size(); ++j) {
    parts[2 * j] = product(fractions[j], m, false);
    parts[2 * j + 1] = product(fractions[j], 1.0 - m, true);
    parts[2 * j + 1].slope *= -1.0;
  }
  double top = -inf, total = 0.0, slope = 0.0, square = 0.0;
  for (const Value& x : parts) top = std::max(top, x.value);
  for (const Value& x : parts) {
    const double weight = std::exp(x.value - top);
    total += weight;
    slope += weight * x.slope;
    square += weight * (x.bend + x.slope * x.slope);
  }
  slope /= total;
  return {top + std::log(total / static_cast<double>(parts.size())), slope, std::max(square / total - slope * slope, 0.0)};
}

Bets::Bets(Wealth wealth) : wealth_(std::move(wealth)), minimiser_(std::clamp(wealth_.mean(), 1e-6, 1.0 - 1e-6)) {
  minimiser_ = find(0.0);
  minimum_ = wealth_.at(minimiser_).value;
}

double Bets::rise(double lam) const {
  return std::max(log_evidence(lam) - minimum_, 0.0);
}

double Bets::gain(double lam) const {
  const double bend = wealth_.at(wealth_.scaled(lam)).bend;
  return bend > 0.0 && bend < inf ? wealth_.width() * wealth_.width() / bend : 0.0;
}

// Newton's method inside a bracket, from the minimiser.
double Bets::find(double slope) const {
  double low = 0.0, high = 1.0, m = minimiser_;
  for (int turn = 0; turn < 200; ++turn) {
    const Wealth::Value here = wealth_.at(m);
    const double excess = here.slope - slope;
    if (excess == 0.0) return m;
    (excess > 0.0 ? high : low) = m;
    double next = m - excess / here.bend;
    if (!(low < next && next < high)) {
      next = 0.5 * (low + high);
      if (low == 0.0) next = std::min(next, 0.0625 * high);  // the root may be many sizes below
      if (high == 1.0) next = std::max(next, 1.0 - 0.0625 * (1.0 - low));
    }
    if (std::abs(next - m) <= 4e-16 * std::max(m, smallest) || next == low || next == high) return next;
    m = next;
  }
  return m;
}

}  // namespace linkarms
