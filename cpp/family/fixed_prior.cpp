#include "family/fixed_prior.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "family/kl_interval.hpp"
#include "math/special.hpp"

namespace linkarms {

namespace {

/// Spread of the logarithm of the parameter under the prior.
constexpr double spread = 3.0;
/// The cells of the sum: width in standard deviations, number on each side.
constexpr double width = 0.2;
constexpr int cells = 32;

/// integral of pi(x) exp(-n KL(theta, x)) on one side of theta, rounded down: the second factor falls away
/// from theta, so each cell's mass times its value at the far end is too small.
template <ScalarFamily F>
double one_side(const F& f, double n, double theta, Side side) {
  const double unit = std::abs(kl_interval(f, theta, 0.5 / n, side, 0.01) - theta);
  double total = 0.0, at = prior_mass_below(f.domain, theta);
  for (int i = 1; i <= cells; ++i) {
    const double x = theta + static_cast<double>(side) * unit * width * i;
    const double far = prior_mass_below(f.domain, x);
    const double divergence = n * f.kl(theta, x);
    if (!(divergence < 700.0)) break;
    total += std::abs(far - at) * std::exp(-divergence);
    at = far;
  }
  return total;
}

}  // namespace

double prior_mass_below(Domain domain, double x) {
  if (domain == Domain::unit) return std::min(std::max(x, 0.0), 1.0);
  if (x == 0.0) return domain == Domain::half_line ? 0.0 : 0.5;
  const double half = 0.5 + std::atan(std::log(std::abs(x)) / spread) / std::numbers::pi;
  if (domain == Domain::half_line) return x > 0.0 ? half : 0.0;
  return x > 0.0 ? 0.5 + 0.5 * half : 0.5 - 0.5 * half;
}

double regret(const Scalar& f, double n, double theta) {
  if (n <= 0.0) return 0.0;
  // waiting times that are all 0 are rounded, and no rate is too high for them
  if (const auto* rate = std::get_if<GammaRate>(&f); rate && theta >= rate->estimate(0.0)) return inf;
  const auto integral = [=](const auto& g) { return one_side(g, n, theta, Side::below) + one_side(g, n, theta, Side::above); };
  const double total = std::visit(integral, f);
  return total > 0.0 ? -std::log(total) : inf;
}

double categories_regret(double n, View theta) {
  const double half = 0.5 * static_cast<double>(theta.size());
  double total = log_gamma(n + half) - log_gamma(half);
  for (const double p : theta) {
    const double s = n * p;
    total -= log_gamma(s + 0.5) - log_gamma(0.5);
    if (s > 0.0) total += s * std::log(p);
  }
  return total;
}

}  // namespace linkarms
