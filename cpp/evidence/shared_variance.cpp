#include "evidence/shared_variance.hpp"

#include <algorithm>
#include <array>

#include "evidence/solved.hpp"
#include "family/variance_rise.hpp"
#include "math/special.hpp"

namespace linkarms {
namespace {

/// top log(rho) - rate (rho - 1) as a function of rho - 1, up to where it is largest.
struct RatioRise {
  double rate, top;
  [[nodiscard]] double most() const { return (top - rate) / rate; }
  [[nodiscard]] double rise(double more) const {
    const double x = std::min(more, most());
    return top * std::log1p(x) - rate * x;
  }
  [[nodiscard]] double slope(double more) const { return more < most() ? top / (1.0 + more) - rate : 0.0; }
  [[nodiscard]] double limit() const { return rise(most()); }
};

}  // namespace

// One precision for all arms of the set: n, T and R add up, and the infimum of T/R over the piece is the
// largest rho with
//   2 cost(w_m = n_m - rho c n_m / (c + n_m)) >= (rho - 1) S,   all weights positive,
// cost the Gaussian pair cost at unit variance. l rises with rho up to A/b, and rho is rounded down.
double SharedVarianceEvidence::at_scale(const Situation& now, const Witness& w, double c) const {
  const double d = model_->n_features();
  const PrecisionPrior prior = PrecisionPrior::above(c, d);
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
  const double top = prior.shape + 0.5 * total * d;
  price += prior.price(top);
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
  const bool equal = !(squares > 0.0) && total > static_cast<double>(count);  // such samples say nothing: see variance_price
  if (q <= p || equal) high = low;
  for (int i = 0; i < 100 && high - low > 1e-15 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (enough(middle) ? low : high) = middle;
  }
  return RatioRise{prior.rate, top}.rise(low - 1.0) - price / discount_;
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

// The arms of a set share n and S; for a bound that separates, the price is that of the most samples that four arms have, the
// rise that of the fewest of three, and S the largest sum of four. With rho where that rise reaches the largest share of the
// level, |q| - |p| >= sqrt((rho - 1) S sum_m 1/w_m(rho)) shows that T/R gets at least there.
SpreadBounds SharedVarianceEvidence::bounds_of(const Samples& samples, double level, double c) const {
  const double d = model_->n_features();
  const PrecisionPrior prior = PrecisionPrior::above(c, d);
  const auto size = static_cast<std::size_t>(model_->n_arms());
  std::vector<double> counts, squares;
  SpreadBounds out{std::vector(size, 1e300), {}};
  for (Index m = 0; m < model_->n_arms(); ++m) {
    counts.push_back(samples.count(m));
    squares.push_back(samples.moments(m).all_squares);
    out.price.push_back(0.5 * d * std::log1p(counts.back() / c) / discount_);
  }
  std::array<double, 3> fewest{};
  std::ranges::partial_sort_copy(counts, fewest);
  const RatioRise rise{prior.rate, prior.shape + 0.5 * d * (fewest[0] + fewest[1] + fewest[2])};
  out.constant = prior.price(prior.shape + 0.5 * d * largest_share(0.0, counts)) / discount_;
  out.least = std::max(largest_share(level + out.constant, out.price), 1e-300);
  if (std::ranges::count(squares, 0.0) >= 3) return out;  // (equal samples say nothing)
  const double more = first_reaching(rise, out.least, 1e-3);
  for (std::size_t m = 0; m < size; ++m) {
    const double weight = counts[m] - (1.0 + more) * c * counts[m] / (c + counts[m]);
    if (weight > 0.0) out.spread[m] = std::min(more * largest_share(0.0, squares) / (2.0 * out.least * weight), 1e300);
  }
  return out;
}

std::vector<SpreadBounds> SharedVarianceEvidence::bounds(const Situation& now, double level, Index first, const Witness&) const {
  return {bounds_of(now.samples, level, grid_[static_cast<std::size_t>(first)]),
          bounds_of(now.samples, level, *std::ranges::max_element(grid_))};
}

}  // namespace linkarms
