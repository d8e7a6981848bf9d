// Gaussian samples of unknown mean and variance: the mixture for a tested mean and a tested variance (section 6 of
// math.md).
//
// For a tested (lambda, tau) the prior on the true mean and precision is tied to it: omega = tau g, g ~ Gamma(a, rate b),
// and the mean given omega has precision c omega. With n samples of one number, S their squares about their mean,
// D = xbar - lambda, A = a + n/2, r = c / (c + n) and t = n D^2 / S, the log evidence depends on lambda by
// rho = T/R = (1 + t) / (1 + r t), and its infimum over tau >= 0 is
//   -price + rise(t),   rise(t) = A log(rho) - b (rho - 1)  up to rho = A/b,  and constant from there on,
// where the best tau is 0. rho is concave in t and the rise increasing and concave in rho: so it is in t. The same
// function of another t, with another A and price, serves
//   d coordinates of one variance:   A = a + n d / 2,  t = n |D|^2 / S
//   d coordinates and a covariance:  a = nu / 2,       t = n D' S^-1 D, S the matrix (Wishart prior)
// because then det T / det R = rho, tr(R^-1 T) = d + rho - 1, and the best precision has the eigenvectors of S
// and D.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "math/constants.hpp"
#include "math/special.hpp"

namespace linkarms {

/// A t at which a rise, concave and increasing from 0, is at least `level`: within `precision` of the first; infinite where
/// there is none.
template <class Rise>
[[nodiscard]] double first_reaching(const Rise& rise, double level, double precision) {
  if (level <= 0.0) return 0.0;
  if (!(rise.limit() > level * (1.0 + 1e-9))) return inf;
  double low = 0.0, high = level / rise.slope(0.0);  // the rise is concave: not yet there
  while (rise.rise(high) < level) {
    low = high;
    high *= 2.0;
    if (high > 1e300) return inf;
  }
  while (high - low > precision * high) {
    const double middle = 0.5 * (low + high);
    (rise.rise(middle) < level ? low : high) = middle;
  }
  return high;
}

/// How the evidence of one arm rises with t >= 0: concave, increasing, from 0 to `limit`.
class VarianceRise {
 public:
  VarianceRise() = default;
  /// n >= 1 samples of which c weigh as much as the prior of the mean; the rate b of the prior of the precision, and its
  /// shape A after the samples.
  VarianceRise(double n, double c, double b, double top)
      : b_(b), top_(top), r_(c / (c + n)), rest_(n / (c + n)), most_((top - b) / b) {}

  [[nodiscard]] double rise(double t) const { return at_ratio(std::min(rest_ * t / (1.0 + r_ * t), most_)); }
  [[nodiscard]] double slope(double t) const {
    const double below = 1.0 + r_ * t, more = rest_ * t / below;
    return more < most_ ? (top_ / (1.0 + more) - b_) * rest_ / (below * below) : 0.0;
  }
  /// rise(infinity).
  [[nodiscard]] double limit() const { return at_ratio(std::min(rest_ / r_, most_)); }

  /// A t at which the rise is at least `level`, within a thousandth of the first; infinite where there is none.
  [[nodiscard]] double reach(double level) const { return first_reaching(*this, level, 1e-3); }

 private:
  [[nodiscard]] double at_ratio(double more) const { return top_ * std::log1p(more) - b_ * more; }

  double b_ = 0.0, top_ = 0.0, r_ = 1.0, rest_ = 0.0;
  double most_ = 0.0;  ///< A/b - 1
};

/// The prior of the precision, in units of the tested one: g ~ Gamma(shape, rate).
struct PrecisionPrior {
  double shape, rate;

  /// For d coordinates of one variance. If the mean is off by D^2 = 1 / (c omega), as its prior expects, the tested variance
  /// that fits the samples best is 1 + 1/c times the true one: so the precision is expected above the tested one by that
  /// factor. It weighs 8c + 2 samples: known better, it costs less, and the evidence levels off sooner.
  [[nodiscard]] static PrecisionPrior above(double c, double d) { return tilted((4.0 * c + 1.0) * d, c); }
  /// Centred at the tested precision. It takes more samples; proofs are shorter, and lose less where forms are many.
  [[nodiscard]] static PrecisionPrior centred(double c, double d) { return {2.0 * c * d, 2.0 * c * d}; }
  /// The same for the Wishart prior of a covariance in d dimensions, with nu = 2 shape, which must be above d - 1.
  [[nodiscard]] static PrecisionPrior above_wishart(double c, int d) { return tilted(std::max(4.0 * c + 1.0, 0.5 * d), c); }
  [[nodiscard]] static PrecisionPrior centred_wishart(double c, int d) {
    const double shape = std::max(2.0 * c, 0.5 * d);
    return {shape, shape};
  }

  /// What not knowing the precision costs, after samples that bring the shape to `top`. It grows with them.
  [[nodiscard]] double price(double top) const {
    return log_gamma(shape) - log_gamma(top) - shape * std::log(rate) + top * std::log(top) - (top - rate);
  }

 private:
  [[nodiscard]] static PrecisionPrior tilted(double shape, double c) { return {shape, shape * c / (c + 1.0)}; }
};

/// The price of d coordinates with one variance: minus the least evidence, at t = 0. Also of equal samples, for which S = 0 and
/// t = 0 / 0: there math.md takes rho = (c + n) / c whatever lambda is, but readings are rounded, and the evidence of S > 0 tends
/// to minus the price at lambda = xbar.
[[nodiscard]] inline double variance_price(const PrecisionPrior& prior, double n, double c, double d) {
  return 0.5 * d * std::log1p(n / c) + prior.price(prior.shape + 0.5 * n * d);
}

/// The price of a full covariance with a Wishart prior; the evidence is never below minus that, also where S is singular.
[[nodiscard]] inline double covariance_price(const PrecisionPrior& prior, double n, double c, int d) {
  const double top = prior.shape + 0.5 * n;
  double price = 0.5 * d * std::log1p(n / c);
  for (int i = 0; i < d; ++i) price += log_gamma(prior.shape - 0.5 * i) - log_gamma(top - 0.5 * i);  // log multivariate gamma
  return price + d * (-prior.shape * std::log(prior.rate) + top * std::log(top) - (top - prior.rate));
}

}  // namespace linkarms
