#include "pair/categorical.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "math/constants.hpp"

namespace linkarms {

namespace {

/// argmin over probabilities x of w KL(p, x) - mu k.x:  x_i = w p_i / (nu - mu k_i), with the nu that makes
/// them add up to one. A category of probability zero takes part only where its mu k_i is the largest: then
/// nu = mu k_i and it gets what the others leave.
void categorical_step(View p, double w, double mu, View k, MutView x) {
  const std::size_t d = p.size();
  double top = -inf, low = -inf;
  for (std::size_t i = 0; i < d; ++i) {
    top = std::max(top, mu * k[i]);
    if (p[i] > 0.0) low = std::max(low, mu * k[i] + w * p[i]);
  }
  double high = std::max(top + w, low);
  low = std::max(low, top);
  const auto fill = [&](double nu) {
    double total = 0.0;
    for (std::size_t i = 0; i < d; ++i) {
      x[i] = p[i] > 0.0 ? w * p[i] / (nu - mu * k[i]) : 0.0;
      total += x[i];
    }
    return total;
  };
  for (std::size_t i = d; i-- > 0;) {
    if (p[i] > 0.0 || mu * k[i] < low) continue;
    const double total = fill(low);
    if (total < 1.0) {
      x[i] = 1.0 - total;
      return;
    }
    break;
  }
  double nu = 0.5 * (low + high);
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
    if (std::abs(next - nu) <= 1e-16 * (std::abs(nu) + w)) break;
    const double before = std::exchange(nu, low < next && next < high ? next : 0.5 * (low + high));
    if (nu == before) break;  // the ends of the bracket are neighbours: it stays there
  }
  const double total = fill(nu);
  for (double& y : x) y /= total;
}

}  // namespace

double categorical_cost(const MovingArms& arms, const Matrix& kappa, double level, Matrix& point) {
  double start = 0.0, gain = 0.0;
  for (Index i = 0; i < arms.size(); ++i) {
    for (Index k = 0; k < kappa.cols(); ++k) {
      const double p = arms[i].theta[k];
      start += kappa(i, k) * p;
      gain += kappa(i, k) * kappa(i, k) * p / arms[i].weight;
      point(i, k) = p;
    }
  }
  if (start >= 0.0) return 0.0;
  double low = 0.0, high = inf, g_low = start, g_high = 0.0, value = 0.0;
  double mu = gain > 0.0 ? -start / gain : 1.0;
  for (int turn = 0; turn < 200; ++turn) {
    double g = 0.0, scale = 0.0;
    for (Index i = 0; i < arms.size(); ++i) {
      categorical_step(arms[i].theta, arms[i].weight, mu, kappa.row(i), point.row(i));
      for (Index k = 0; k < kappa.cols(); ++k) {
        g += kappa(i, k) * point(i, k);
        scale += std::abs(kappa(i, k) * point(i, k));
      }
    }
    value = arms.cost(point) - mu * g;
    if (value >= level || std::abs(g) <= 1e-15 * scale) break;
    if (g > 0.0) {
      high = mu, g_high = g;
    } else {
      low = mu, g_low = g;
    }
    if (high == inf) {
      mu *= 2.0;
      if (mu > 1e250) return inf;
      continue;
    }
    const double width = high - low;
    if (width <= 1e-15 * high) break;
    // the secant, kept away from the ends of the bracket
    mu = (low * g_high - high * g_low) / (g_high - g_low);
    if (width > 1e-7 * high) mu = std::min(std::max(mu, low + 0.02 * width), high - 0.02 * width);
    if (mu <= low || mu >= high) break;
  }
  return std::max(value, 0.0);
}

}  // namespace linkarms
