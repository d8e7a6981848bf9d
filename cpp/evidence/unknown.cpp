#include "evidence/unknown.hpp"

#include <array>
#include <numbers>

#include "evidence/solved.hpp"
#include "pair/linear.hpp"

namespace linkarms {
namespace {

/// Distance between the means of the predicted samples of two arms.
[[nodiscard]] double predicted_distance(const Samples& samples, Index i, Index j) {
  const auto &x = samples.moments(i).mean, &y = samples.moments(j).mean;
  double total = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) total += (x[k] - y[k]) * (x[k] - y[k]);
  return std::sqrt(total);
}

/// Minus the log likelihood of n samples with the variance that suits them best, `squares` about the tested
/// means.
[[nodiscard]] double best_likelihood(double n, double d, double squares) {
  return 0.5 * n * d * (std::log(2.0 * std::numbers::pi * squares / (n * d)) + 1.0);
}

}  // namespace

// The arms share their variance: the likelihood depends on the squares alone, and so on the Gaussian pair
// cost.
double UnknownVarianceEvidence::shared_variance(const Samples& samples, const Witness& w) const {
  const double d = model_->n_features();
  const double p = predicted_distance(samples, w.u, w.v), q = predicted_distance(samples, w.a, w.b);
  const std::array<Index, 4> arms{w.u, w.v, w.b, w.a};
  double n = 0.0, squares = 0.0, total = 0.0, spread = 0.0;
  for (std::size_t i = 0; i < (w.shared() ? 3U : 4U); ++i) {
    const Moments& own = samples.moments(arms[i]);
    n += own.predicted;
    squares += own.squares;
    total += own.log_predictive;
    spread = own.predicted > 0.0 ? spread + 1.0 / own.predicted : inf;
  }
  double cost = 0.0;
  if (spread < inf && q > p) {
    const auto weight = [&](Index m) { return 1.0 / samples.moments(m).predicted; };
    cost = w.shared() ? shared_cost(p, q, predicted_distance(samples, w.v, w.b), weight(w.u), weight(w.v), weight(w.b))
                      : (q - p) * (q - p) / (2.0 * spread);
  }
  if (squares <= 0.0) return -inf;
  return 0.5 * n * d * std::log1p(2.0 * cost / squares) + paid_ * (total + best_likelihood(n, d, squares));
}

// Each arm has its own variance: how far each moves, with r_u + r_v + r_a + r_b >= gap, a shared arm counted
// twice. That is the triangle inequality; for four arms nothing is lost by it.
double UnknownVarianceEvidence::own_variances(const Samples& samples, const Witness& w, double level) const {
  const double d = model_->n_features();
  const double gap = predicted_distance(samples, w.a, w.b) - predicted_distance(samples, w.u, w.v);
  const std::array<Index, 4> arms{w.u, w.v, w.b, w.a};
  const std::size_t n = w.shared() ? 3 : 4;
  std::array<Number, 5> numbers;
  double total = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const Moments& own = samples.moments(arms[i]);
    if (own.squares <= 0.0) return -inf;  // at most one predicted sample, or equal ones: any mean is possible
    total += paid_ * (own.log_predictive + best_likelihood(own.predicted, d, own.squares));
    numbers[i].kind = Student{0.5 * own.predicted * d, std::sqrt(own.squares / own.predicted)};
    numbers[i].kappa = w.shared() && i == 0 ? 2.0 : 1.0;
  }
  if (gap <= 0.0) return total;
  numbers[n] = {.theta = gap, .kappa = -1.0, .kind = Fixed{}, .lam = gap};
  return total + linear_cost(std::span(numbers).first(n + 1), level - total);
}

double UnknownVarianceEvidence::against(const Situation& now, const Witness& w, double level, Index) const {
  return model_->variances() == Variances::shared ? shared_variance(now.samples, w) : own_variances(now.samples, w, level);
}

// The evidence is about the means of the predicted samples, not about the estimates: an arm's reach is how
// far these two are apart and where a log(1 + (r / b)^2) reaches the largest share. With one variance for all
// arms the costs do not separate: nothing is said.
std::vector<SpreadBounds> UnknownVarianceEvidence::bounds(const Situation& now, double level, Index, const Witness&) const {
  const auto n = static_cast<std::size_t>(model_->n_arms());
  SpreadBounds out{std::vector(n, 1e300), std::vector(n, inf)};
  if (model_->variances() == Variances::shared) {
    out.least = 1.0;
    return {out};  // a price of infinity: no bound rules a candidate out, however low the level is
  }
  const double d = model_->n_features();
  for (Index m = 0; m < model_->n_arms(); ++m) {
    const Moments& own = now.samples.moments(m);
    if (own.squares > 0.0) out.price[m] = -paid_ * (own.log_predictive + best_likelihood(own.predicted, d, own.squares));
  }
  std::vector<double> finite;
  std::ranges::copy_if(out.price, std::back_inserter(finite), [](double x) { return x < inf; });
  out.least = std::max(largest_share(level, finite), 1e-300);
  for (Index m = 0; m < model_->n_arms(); ++m) {
    const Moments& own = now.samples.moments(m);
    if (!(own.squares > 0.0)) continue;
    double apart = 0.0;
    for (std::size_t k = 0; k < own.mean.size(); ++k) {
      apart += (own.mean[k] - now.samples.mean(m)[k]) * (own.mean[k] - now.samples.mean(m)[k]);
    }
    const double grown = std::expm1(std::min(out.least / (0.5 * own.predicted * d), 600.0));
    const double r = std::sqrt(apart) + std::sqrt(own.squares / own.predicted * grown);
    out.spread[m] = std::min(2.0 * r * r / out.least, 1e300);
  }
  return {out};
}

}  // namespace linkarms
