// With `limit` the slope at which the step becomes infinite, these families have
//
//   lambda(slope) = theta / (1 - slope / limit)   and   KL(theta, lambda) = theta limit phi(lambda / theta - 1),
//
// so in G(mu) = sum_m kappa_m lambda_m(mu) each term is part_m / (1 - mu rate_m) with part = kappa theta and
// rate = kappa / (w limit); a number that stays has the rate 0. The terms with positive parts add up to P, which
// increases, the others to -N, and 1/P and 1/N are straight lines where each has one term: Newton's method on
// 1/P - 1/N needs three or four steps, where on G it would first have to find its way along the pole.
#include "pair/poles.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "math/phi.hpp"

namespace linkarms {

namespace {

/// A step so small, relative to the multiplier and to its distance from the pole, is the last: Newton's
/// method squares it.
constexpr double last_step = 1e-8;
/// G is only known up to this, relative to its terms.
constexpr double noise_of_terms = 1e-15;
/// The level is asked about from the first step on that is so small, relatively: D is then nearly as large as
/// it gets.
constexpr double close_step = 0.1;
/// A lower bound has to be above a level by more than this, relatively, before it counts as above it.
constexpr double rounding = 1e-12;
/// Most steps; the bracket is halved where they are of no use.
constexpr int most_turns = 300;

/// One term part / (1 - mu rate) of G.
struct Pole {
  double part, rate;
};

/// P and N at one multiplier, and their derivatives.
struct Sums {
  double plus = 0.0, minus = 0.0, rise = 0.0, fall = 0.0;

  Sums(std::span<const Pole> poles, double mu) {
    for (const auto& [part, rate] : poles) {
      const double r = 1.0 / (1.0 - mu * rate), term = part * r;
      if (part > 0.0) {
        plus += term;
        rise += term * rate * r;
      } else {
        minus -= term;
        fall += term * rate * r;
      }
    }
  }
};

/// D(mu) or a little less, without logarithms; leaves lambda(mu) in the numbers.
/// phi(x) >= x^2 / (2 + 4 x / 3), here with x = s / (1 - s) and the weight part / rate.
double dual_bound(std::span<Number> numbers, std::span<const Pole> poles, double mu, double g) {
  double total = -mu * g;
  for (std::size_t i = 0; i < poles.size(); ++i) {
    const double s = mu * poles[i].rate, ratio = 1.0 / (1.0 - s);
    numbers[i].lam = numbers[i].theta * ratio;
    total += poles[i].part * mu * s * ratio / (2.0 - (2.0 / 3.0) * s);
  }
  return total;
}

/// D(mu); leaves lambda(mu) in the numbers.
double dual_value(std::span<Number> numbers, std::span<const Pole> poles, double mu) {
  double total = 0.0, g = 0.0;
  for (std::size_t i = 0; i < poles.size(); ++i) {
    const auto& [part, rate] = poles[i];
    const double ratio = 1.0 / (1.0 - mu * rate);
    numbers[i].lam = numbers[i].theta * ratio;
    g += part * ratio;
    if (rate != 0.0) total += part / rate * phi_ratio(ratio, 1.0, mu * rate * ratio);
  }
  return total - mu * g;
}

}  // namespace

bool has_poles(std::span<const Number> numbers) {
  bool rises = false, stays = false;
  for (const Number& x : numbers) {
    if (std::holds_alternative<Fixed>(x.kind)) {
      stays = true;
      continue;
    }
    const auto* family = std::get_if<const Scalar*>(&x.kind);
    // the KL of a Poisson arm from 0 is linear
    if (family == nullptr || !(is<GammaRate>(**family) || is<Poisson>(**family)) || !(x.theta > 0.0)) return false;
    rises = rises || x.kappa > 0.0;
  }
  return rises || !stays;
}

double pole_cost(std::span<Number> numbers, double level) {
  std::array<Pole, most_numbers> terms;
  double top = 0.0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Number& x = numbers[i];
    terms[i] = {x.kappa * x.theta, x.kappa / (x.weight * x.slope_limit())};
    x.lam = x.theta;
    top = std::max(top, terms[i].rate);
  }
  const std::span<const Pole> poles = std::span(terms).first(numbers.size());
  Sums at(poles, 0.0);
  if (at.plus >= at.minus) return 0.0;
  if (at.plus == 0.0) return inf;
  const double pole = 1.0 / top;
  double low = 0.0, high = pole, mu = 0.0, before = inf;
  for (int turn = 0; turn < most_turns; ++turn) {
    const double ratio = at.plus / at.minus;
    const double off = std::abs(1.0 - ratio) / at.plus;
    double next = mu + (1.0 - ratio) * at.plus / (at.rise + at.fall * ratio * ratio);
    if (turn > 0) {
      const double g = at.plus - at.minus, noise = noise_of_terms * (at.plus + at.minus);
      const double change = std::abs(next - mu);
      if (level < inf && change <= close_step * mu) {
        // every D(mu) is a lower bound of the minimum
        const double bound = dual_bound(numbers, poles, mu, g);
        if (bound > level * (1.0 + rounding) + mu * noise) return bound;
      }
      if (std::abs(g) <= noise) break;
      if (change <= last_step * std::min(mu, pole - mu)) {
        mu = next;
        break;
      }
      (g > 0.0 ? high : low) = mu;
    }
    if (!(low < next && next < high && off < 0.5 * before)) {
      next = high < 16.0 * low || low == 0.0 ? 0.5 * (low + high) : std::sqrt(low * high);
    }
    before = off;
    if (std::abs(next - mu) <= 1e-15 * mu) break;
    mu = next;
    at = Sums(poles, mu);
  }
  double value = dual_value(numbers, poles, mu);
  if (!(value < inf)) value = dual_value(numbers, poles, low);  // at the pole itself: just below, all is finite
  return std::max(value, 0.0);
}

}  // namespace linkarms
