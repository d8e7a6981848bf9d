// Gaussian samples of unknown mean and variance: the mixture centred at the tested mean and the tested
// variance (section 6 of math.md).
//
// For a tested (lambda, tau) the prior on the true mean and precision is centred there: omega = tau g, g ~
// Gamma(a, rate a), and the mean given omega has precision c omega. With n samples of one number, S their
// squares about their mean, D = xbar - lambda, A = a + n/2, r = c / (c + n) and t = n D^2 / S, the log evidence
// depends on lambda by rho = T/R = (1 + t) / (1 + r t), and its infimum over tau >= 0 is
//   -price + rise(t),   rise(t) = A log(rho) - a (rho - 1)  up to rho = A/a,  and constant from there on,
// where the best tau is 0. rho is concave in t and the rise increasing and concave in rho: so it is in t. (For a <=
// c/2 rho never gets to A/a.) The same function of another t, with another A and price, serves
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
  /// n >= 1 samples of which c weigh as much as the prior of the mean; shape a of the prior of the precision, which
  /// the samples bring to `top`.
  VarianceRise(double n, double c, double a, double top)
      : a_(a), top_(top), r_(c / (c + n)), rest_(n / (c + n)), most_((top - a) / a) {}

  [[nodiscard]] double rise(double t) const { return at_ratio(std::min(rest_ * t / (1.0 + r_ * t), most_)); }
  [[nodiscard]] double slope(double t) const {
    const double below = 1.0 + r_ * t, more = rest_ * t / below;
    return more < most_ ? (top_ / (1.0 + more) - a_) * rest_ / (below * below) : 0.0;
  }
  /// rise(infinity).
  [[nodiscard]] double limit() const { return at_ratio(std::min(rest_ / r_, most_)); }

  /// A t at which the rise is at least `level`, within a thousandth of the first; infinite where there is none.
  [[nodiscard]] double reach(double level) const { return first_reaching(*this, level, 1e-3); }

 private:
  [[nodiscard]] double at_ratio(double more) const { return top_ * std::log1p(more) - a_ * more; }

  double a_ = 0.0, top_ = 0.0, r_ = 1.0, rest_ = 0.0;
  double most_ = 0.0;  ///< A/a - 1
};

/// How much more the prior of the precision weighs than c samples would: known better, it costs less, and the
/// evidence levels off sooner. (Means 0, 1, 3, 4, 7, 8: from 1 to 4, about one unit less to pay.)
inline constexpr double precision_prior = 4.0;

/// The price of d coordinates with one variance: minus the least evidence, at t = 0.
[[nodiscard]] inline double variance_price(double n, double c, double d) {
  const double a = 0.5 * precision_prior * c * d, top = a + 0.5 * n * d;
  return 0.5 * d * std::log1p(n / c) - log_gamma(top) + log_gamma(a) - a * std::log(a) + top * std::log(top) - 0.5 * n * d;
}

/// Minus the evidence where S = 0, one sample or equal ones: rho = (c + n) / c whatever lambda.
[[nodiscard]] inline double flat_price(double n, double c, double d) {
  const double a = 0.5 * precision_prior * c * d, top = a + 0.5 * n * d;
  return variance_price(n, c, d) - VarianceRise(n, c, a, top).limit();
}

/// The weight of the Wishart prior of a covariance, which must be above d - 1.
[[nodiscard]] inline double wishart_prior(double c, int d) {
  return std::max(precision_prior * c, static_cast<double>(d));
}

/// The price of a full covariance; the evidence is never below minus that, also where S is singular.
[[nodiscard]] inline double covariance_price(double n, double c, int d) {
  const double nu = wishart_prior(c, d);
  double price = 0.5 * d * std::log1p(n / c) - 0.5 * n * d * std::numbers::ln2;
  for (int i = 0; i < d; ++i) price += log_gamma(0.5 * (nu - i)) - log_gamma(0.5 * (nu + n - i));  // log multivariate gamma
  return price - 0.5 * nu * d * std::log(nu) + 0.5 * (nu + n) * d * std::log(nu + n) - 0.5 * n * d;
}

}  // namespace linkarms
