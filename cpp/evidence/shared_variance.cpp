#include "evidence/shared_variance.hpp"

#include <array>

#include "math/special.hpp"

namespace linkarms {

// One precision for all arms of the set: n, T and R add up, and the infimum of T/R over the piece is the
// largest rho with
//   2 cost(w_m = n_m - rho c n_m / (c + n_m)) >= (rho - 1) S,   all weights positive,
// cost the Gaussian pair cost at unit variance. l rises with rho up to A/a, and rho is rounded down.
double SharedVarianceEvidence::at_scale(const Situation& now, const Witness& w, double c) const {
  const double d = model_->n_features(), a = 0.5 * c * d;
  const std::array<Index, 4> arms{w.u, w.v, w.b, w.a};
  const std::size_t count = w.shared() ? 3 : 4;
  double total = 0.0, squares = 0.0, price = 0.0, most = inf;
  for (std::size_t i = 0; i < count; ++i) {
    const double n = now.samples.count(arms[i]);
    total += n;
    squares += now.samples.moments(arms[i]).all_squares;
    price += 0.5 * d * std::log1p(n / c);
    most = std::min(most, (c + n) / c);
  }
  const double top = a + 0.5 * total * d;
  price += log_gamma(a) - log_gamma(top) - a * std::log(a) + top * std::log(top) - (top - a);
  const double p = now.dist(w.u, w.v), q = now.dist(w.a, w.b), r = now.dist(w.v, w.b) - tolerance_;
  const auto enough = [&](double rho) {
    const auto inverse = [&](Index m) {
      const double n = now.samples.count(m);
      return 1.0 / (n - rho * c * n / (c + n));
    };
    const double iu = inverse(w.u), iv = inverse(w.v), ib = inverse(w.b);
    double cost;
    if (w.shared()) {
      cost = shared_cost(p, q - tolerance_, r, iu, iv, ib);
      // with a tolerance the larger of two lower bounds (section 8)
      if (tolerance_ > 0.0) cost = std::max(cost, (q - p) * (q - p) / (2.0 * (4.0 * iu + iv + ib)));
    } else {
      cost = (q - p) * (q - p) / (2.0 * (iu + iv + inverse(w.a) + ib));
    }
    return 2.0 * cost >= (rho - 1.0) * squares;
  };
  double low = 1.0, high = most;
  if (q <= p) high = low;
  for (int i = 0; i < 100 && high - low > 1e-15 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (enough(middle) ? low : high) = middle;
  }
  return top * std::log(low) - a * (low - 1.0) - price / discount_;
}

double SharedVarianceEvidence::against(const Situation& now, const Witness& w, double level, Index first) const {
  const std::size_t size = grid_.size();
  double best = -inf;
  for (std::size_t turn = 0; turn < size && best < level; ++turn) {
    best = std::max(best, at_scale(now, w, grid_[(static_cast<std::size_t>(first) + turn) % size]));
  }
  return best;
}

Index SharedVarianceEvidence::best_scale(const Situation& now, const Witness& w, Index scale) const {
  double most = -inf;
  for (std::size_t j = 0; j < grid_.size(); ++j) {
    const double value = at_scale(now, w, grid_[j]);
    if (value > most) {
      most = value;
      scale = static_cast<Index>(j);
    }
  }
  return scale;
}

// A price of infinity says nothing.
std::vector<SpreadBounds> SharedVarianceEvidence::bounds(const Situation&, double, Index, const Witness&) const {
  const auto n = static_cast<std::size_t>(model_->n_arms());
  SpreadBounds out{std::vector(n, 1e300), std::vector(n, inf)};
  out.least = 1.0;
  return {out};
}

}  // namespace linkarms
