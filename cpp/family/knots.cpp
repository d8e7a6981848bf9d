#include "family/knots.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace linkarms {
namespace {

/// Divides `weight` at `at` between the two multiples of `stride` next to it.
template <class Add>
void divide(double at, Index stride, double weight, const Add& add) {
  const auto left = static_cast<Index>(std::floor(at / stride)) * stride;
  const double share = (at - left) / stride;
  if (share < 1.0) add(left, weight * (1.0 - share));
  if (share > 0.0) add(left + stride, weight * share);
}

}  // namespace

void Knots::add(Index place, double weight) {
  const auto found = std::ranges::lower_bound(knots_, place, {}, &Knot::place);
  if (found != knots_.end() && found->place == place) {
    found->weight += weight;
  } else {
    knots_.insert(found, {place, weight});
  }
}

void Knots::add(const SampleBounds& range, double sample) {
  // A value of a scale with few steps is on its knot up to rounding: without this it would have two.
  constexpr double rounding = 1e-12;
  double at = std::clamp(most * ((sample - range.low) / range.width()), 0.0, static_cast<double>(most));
  if (std::abs(at - std::round(at)) <= rounding * at) at = std::round(at);
  divide(at, 1, 1.0, [&](Index place, double weight) { add(place, weight); });
}

double Knots::mean() const {
  double total = 0.0, sum = 0.0;
  for (const Knot& knot : knots_) {
    total += knot.weight;
    sum += knot.weight * knot.place;
  }
  return total > 0.0 ? sum / (total * most) : 0.0;
}

void Knots::set(std::vector<Knot> knots, const SampleBounds& range, double count, double mean) {
  constexpr double close = 1e-9;
  double total = 0.0;
  Index before = -1;
  bool damaged = false;
  for (const Knot& knot : knots) {
    damaged = damaged || !(knot.place > before && knot.place <= most && knot.weight > 0.0);
    before = knot.place;
    total += knot.weight;
  }
  Knots next;
  next.knots_ = std::move(knots);
  const double expected = count > 0.0 ? (mean - range.low) / range.width() : 0.0;
  if (damaged || !(std::abs(total - count) <= close * count) || !(std::abs(next.mean() - expected) <= close)) {
    throw std::invalid_argument("the knots of an arm are not those of its samples; the dump is damaged");
  }
  *this = std::move(next);
}

std::vector<Knot> coarsened(std::span<const Knot> knots, std::size_t limit) {
  if (knots.size() <= limit) return {knots.begin(), knots.end()};
  constexpr std::array<Index, 6> strides{2, 3, 4, 6, 8, 12};  // divisors of 360; the last leaves 31 knots
  std::array<double, Knots::most + 1> dense;
  for (const Index stride : strides) {
    dense.fill(0.0);
    for (const Knot& knot : knots) {
      divide(knot.place, stride, knot.weight,
             [&](Index place, double weight) { dense[static_cast<std::size_t>(place)] += weight; });
    }
    std::vector<Knot> out;
    for (Index place = 0; place <= Knots::most; place += stride) {
      if (const double weight = dense[static_cast<std::size_t>(place)]; weight > 0.0) out.push_back({place, weight});
    }
    if (out.size() <= limit) return out;
  }
  throw std::invalid_argument("the limit is below 31 knots");
}

}  // namespace linkarms
