// Gaussian samples of unknown mean and variance: the mixture centred at the tested mean and the tested
// variance (section 6 of math.md), as a cost of the distance of the means.
//
// It is the mixture of family/variance_rise.hpp with a prior of the precision whose shape and rate are a = c d / 2, for n
// samples in d coordinates. With r = c / (c + n) and t = n D^2 / S it rises above its minimum, at D = 0, by
//   a h(t),  h(t) = log((1+t) / (1+rt)) / r - (1-r) t / (1+rt),   h'(t) = (1-r)^2 / (r (1+t) (1+rt)^2) .
#pragma once

#include <algorithm>
#include <cmath>

#include "family/variance_rise.hpp"

namespace linkarms {

/// How the evidence of one arm rises with the distance x = |xbar - lambda| >= 0: a h(x^2 / b^2), b^2 = S / n.
/// Convex up to its inflection, bounded by a h(infinity). Where S = 0 it does not rise at all: one sample, or
/// equal ones, say nothing against any mean.
class VarianceMixture {
 public:
  /// `n` >= 1 samples of `d` coordinates with the squares `squares`, for a prior that weighs `c` samples.
  VarianceMixture(double n, double squares, double c, double d)
      : n_(n), c_(c), a_(0.5 * c * d), r_(c / (c + n)), b_(std::sqrt(squares / n)), rise_(n, c, a_, a_ + 0.5 * n * d) {}

  /// The price: minus the least evidence. With S = 0 all lambda have the evidence of T/R = (c + n) / c.
  [[nodiscard]] double price(double d) const { return (is_flat() ? flat_price : variance_price)({a_, a_}, n_, c_, d); }

  [[nodiscard]] bool is_flat() const { return b_ <= 0.0; }
  [[nodiscard]] double rise(double x) const {
    if (is_flat()) return 0.0;
    const double t = (x / b_) * (x / b_);
    return t < inf ? rise_.rise(t) : rise_.limit();
  }
  /// Where the rise stops being convex in x: 5 r t^2 + (1 + 3r) t = 1.
  [[nodiscard]] double inflection() const {
    const double p = 1.0 + 3.0 * r_;
    return b_ * std::sqrt(2.0 / (p + std::sqrt(p * p + 20.0 * r_)));
  }
  /// By h', not by the slope of `rise_`: that is a difference, which cancels where r is near 1.
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
  double n_, c_, a_, r_, b_;
  VarianceRise rise_;
};

}  // namespace linkarms
