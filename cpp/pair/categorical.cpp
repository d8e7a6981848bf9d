#include "pair/categorical.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "math/constants.hpp"

namespace linkarms {

namespace {

/// argmin over probabilities x of w KL(p, x) - mu k.x:  x_i = w p_i / (nu - mu k_i), with the nu that makes
/// them add up to one. A category of probability zero takes part only where its mu k_i is the largest: then
/// nu = mu k_i and it gets what the others leave. Returns the derivative of k.x in mu. The search for nu begins
/// at `nu`, which becomes the one that was found.
double categorical_step(View p, double w, double mu, View k, double& nu, MutView x) {
  const std::size_t d = p.size();
  double top = -inf, low = -inf;
  for (std::size_t i = 0; i < d; ++i) {
    top = std::max(top, mu * k[i]);
    if (p[i] > 0.0) low = std::max(low, mu * k[i] + w * p[i]);
  }
  double high = std::max(top + w, low);
  low = std::max(low, top);
  const auto fill = [&](double at) {
    double total = 0.0;
    for (std::size_t i = 0; i < d; ++i) {
      x[i] = p[i] > 0.0 ? w * p[i] / (at - mu * k[i]) : 0.0;
      total += x[i];
    }
    return total;
  };
  for (std::size_t i = d; i-- > 0;) {
    if (p[i] > 0.0 || mu * k[i] < low) continue;
    const double total = fill(low);
    if (total < 1.0) {
      x[i] = 1.0 - total;
      nu = low;
      return w / (mu * mu);
    }
    break;
  }
  if (!(low < nu && nu < high)) nu = 0.5 * (low + high);
  for (int turn = 0; turn < 100; ++turn) {
    double total = 0.0, slope = 0.0;
    for (std::size_t i = 0; i < d; ++i) {
      if (p[i] > 0.0) {
        const double rest = nu - mu * k[i], y = w * p[i] / rest;
        total += y;
        slope -= y / rest;
      }
    }
    (total > 1.0 ? low : high) = nu;
    const double next = nu + (total - 1.0) * total / -slope;  // Newton on 1/total, which is nearly linear
    if (std::abs(next - nu) <= 1e-10 * (std::abs(nu) + w)) {  // what is left after this step is its square
      nu = std::min(std::max(next, low), high);
      break;
    }
    const double before = std::exchange(nu, low < next && next < high ? next : 0.5 * (low + high));
    if (nu == before) break;  // the ends of the bracket are neighbours: it stays there
  }
  const double total = fill(nu);
  double s = 0.0, first = 0.0, second = 0.0;  // of k, with the weights x_i / (nu - mu k_i)
  for (std::size_t i = 0; i < d; ++i) {
    x[i] /= total;
    if (p[i] > 0.0) {
      const double weight = x[i] / (nu - mu * k[i]);
      s += weight;
      first += weight * k[i];
      second += weight * k[i] * k[i];
    }
  }
  return std::max(second - first * first / s, 0.0);
}

}  // namespace

double categorical_cost(const MovingArms& arms, const Matrix& kappa, double level, double& mu, Matrix& point) {
  double start = 0.0, gain = 0.0;
  for (Index i = 0; i < arms.size(); ++i) {
    double first = 0.0, second = 0.0;
    for (Index k = 0; k < kappa.cols(); ++k) {
      const double p = arms[i].theta[k];
      first += kappa(i, k) * p;
      second += kappa(i, k) * kappa(i, k) * p;
      point(i, k) = p;
    }
    start += first;
    gain += (second - first * first) / arms[i].weight;
  }
  if (start >= 0.0) return 0.0;
  double low = 0.0, high = inf, value = 0.0, before = inf;
  if (!(mu > 0.0)) mu = gain > 0.0 ? -start / gain : 1.0;
  std::array<double, 4> nu{};
  for (int turn = 0; turn < 200; ++turn) {
    double g = 0.0, scale = 0.0, slope = 0.0;
    for (Index i = 0; i < arms.size(); ++i) {
      slope += categorical_step(arms[i].theta, arms[i].weight, mu, kappa.row(i), nu[i], point.row(i));
      for (Index k = 0; k < kappa.cols(); ++k) {
        g += kappa(i, k) * point(i, k);
        scale += std::abs(kappa(i, k) * point(i, k));
      }
    }
    value = arms.cost(point) - mu * g;
    if (value >= level || std::abs(g) <= 1e-15 * scale) break;
    (g > 0.0 ? high : low) = mu;
    double next = slope > 0.0 ? mu - g / slope : inf;
    if (high == inf) {
      next = std::min(next, 16.0 * mu);
      if (next > 1e250) return inf;
    } else if (!(low < next && next < high && std::abs(g) < 0.5 * before)) {
      next = 0.5 * (low + high);
    }
    before = std::abs(g);
    if (std::abs(next - mu) <= 1e-14 * mu) break;
    mu = next;
  }
  return std::max(value, 0.0);
}

}  // namespace linkarms
