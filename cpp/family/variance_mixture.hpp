// Gaussian samples of unknown mean and variance: the mixture centred at the tested mean and the tested
// variance (section 6 of math.md).
//
// For a tested (lambda, tau) the prior on the true mean and precision is centred there: omega = tau g, g ~
// Gamma(a, rate a), and the mean given omega has precision c omega. With n samples in d coordinates, S their
// squares about their mean, D = xbar - lambda, T = S + n D^2 and R = S + c n D^2 / (c + n), the infimum over
// tau of the log evidence is, for a = c d / 2 and A = a + n d / 2,
//   l(lambda) = (d/2) log(c / (c+n)) + lgamma(A) - lgamma(a) + a log a - A log A + A + A log(T/R) - a T/R .
// It depends on D^2 alone. With r = c / (c + n) and t = n D^2 / S, T/R = (1 + t) / (1 + r t), and above its
// minimum, at D = 0,
//   l rises by  a h(t),  h(t) = log((1+t) / (1+rt)) / r - (1-r) t / (1+rt),   h'(t) = (1-r)^2 / (r (1+t)
//   (1+rt)^2) .
#pragma once

#include <algorithm>
#include <cmath>

#include "math/constants.hpp"
#include "math/special.hpp"

namespace linkarms {

/// How the evidence of one arm rises with the distance x = |xbar - lambda| >= 0: a h(x^2 / b^2), b^2 = S / n.
/// Convex up to its inflection, bounded by a h(infinity). Where S = 0 it does not rise at all: one sample, or
/// equal ones, say nothing against any mean.
class VarianceMixture {
 public:
  /// `n` >= 1 samples of `d` coordinates with the squares `squares`, for a prior that weighs `c` samples.
  VarianceMixture(double n, double squares, double c, double d) : a_(0.5 * c * d), r_(c / (c + n)), b_(std::sqrt(squares / n)) {}

  /// The price: minus the least evidence, at D = 0.
  [[nodiscard]] double price(double d) const {
    const double a = a_, top = a / r_;
    return -0.5 * d * std::log(r_) - log_gamma(top) + log_gamma(a) - a * std::log(a) + top * std::log(top) - (top - a);
  }

  [[nodiscard]] bool is_flat() const { return b_ <= 0.0; }
  [[nodiscard]] double rise(double x) const {
    if (is_flat()) return 0.0;
    const double t = (x / b_) * (x / b_);
    if (t == inf) return a_ * (-std::log(r_) / r_ - (1.0 - r_) / r_);
    const double below = 1.0 + r_ * t;
    return a_ * (std::log1p((1.0 - r_) * t / below) / r_ - (1.0 - r_) * t / below);
  }
  /// A spread s with rise(x) >= min(x^2 / (2 s), cost) for all x; infinite if it never reaches that cost. The rise is concave in
  /// x^2, so up to an R where it is at least the cost it lies above x^2 rise(R) / R^2.
  [[nodiscard]] double spread(double cost) const {
    constexpr double step = 1.05;
    if (is_flat() || !(rise(inf) > cost * (1.0 + 1e-9))) return inf;
    double r = inflection();
    while (rise(r) < cost) r *= step;
    return 0.5 * r * r / rise(r);
  }
  /// Where the rise stops being convex in x: 5 r t^2 + (1 + 3r) t = 1.
  [[nodiscard]] double inflection() const {
    const double p = 1.0 + 3.0 * r_;
    return b_ * std::sqrt(2.0 / (p + std::sqrt(p * p + 20.0 * r_)));
  }
  [[nodiscard]] double slope(double x) const {
    const double t = (x / b_) * (x / b_), below = 1.0 + r_ * t;
    return 2.0 * a_ * (x / b_) * (1.0 - r_) * (1.0 - r_) / (r_ * (1.0 + t) * below * below * b_);
  }
  /// One over the second derivative: slope'(x) = slope(x) (1/x) (1 - 2t/(1+t) - 4rt/(1+rt)).
  [[nodiscard]] double gain(double x) const {
    if (x <= 0.0) return r_ * b_ * b_ / (2.0 * a_ * (1.0 - r_) * (1.0 - r_));
    const double t = (x / b_) * (x / b_);
    const double bend = 1.0 - 2.0 * t / (1.0 + t) - 4.0 * r_ * t / (1.0 + r_ * t);
    return bend > 0.0 ? x / (slope(x) * bend) : 0.0;
  }
  /// argmin of rise(x) - slope x up to the inflection: Newton's method, kept inside a bracket.
  [[nodiscard]] double step(double wanted) const {
    if (wanted <= 0.0) return 0.0;
    double low = 0.0, high = inflection();
    if (slope(high) <= wanted) return high;
    double x = std::min(wanted * gain(0.0), 0.5 * high);
    for (int i = 0; i < 80; ++i) {
      const double off = slope(x) - wanted;
      (off < 0.0 ? low : high) = x;
      double next = x - off * gain(x);
      if (!(low < next && next < high)) next = 0.5 * (low + high);
      if (std::abs(next - x) <= 1e-15 * x) return next;
      x = next;
    }
    return x;
  }

 private:
  double a_, r_, b_;
};

}  // namespace linkarms
