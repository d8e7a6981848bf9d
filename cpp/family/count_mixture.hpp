// The centred mixtures of Bernoulli and Poisson arms, as costs of one number; see family/mixture.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include "family/bernoulli.hpp"
#include "family/counts.hpp"
#include "family/poisson.hpp"

namespace linkarms {

/// Sums of `count_evidence`: convex, with a slope that has to be searched for a value. F is Bernoulli or
/// Poisson.
template <class F>
class CountMixture {
 public:
  CountMixture(F, double n, double mean, double c)
      : n_(n), mean_(mean), c_(c), total_(count_of(n, mean)), limit_(is_unit ? inf : c * phi(n / c)) {
    minimiser_ = step(0.0);
    minimum_ = log_evidence(minimiser_);
  }

  [[nodiscard]] double minimiser() const { return minimiser_; }
  [[nodiscard]] double rise(double lam) const {
    if (lam < 0.0 || lam > highest(F::domain)) return inf;
    return std::max(log_evidence(lam) - minimum_, 0.0);
  }
  /// Where dl/dm reaches the slope: Newton's method inside a bracket; the ends of the domain where it does
  /// not.
  [[nodiscard]] double step(double slope) const {
    if (total_ <= 1.0 && slope_at(0.0) >= slope) return 0.0;
    if (is_unit && n_ - total_ <= 1.0 && slope_at(1.0) <= slope) return 1.0;
    if (slope >= limit_) return inf;
    double low = 0.0, high = highest(F::domain);
    double m = total_ > 0.0 && (!is_unit || total_ < n_) ? total_ / n_ : 0.5;
    for (int i = 0; i < 200; ++i) {
      const double excess = slope_at(m) - slope, curvature = curvature_at(m), from = m;
      (excess > 0.0 ? high : low) = m;
      m = curvature > 0.0 ? from - excess / curvature : inf;
      if (!(low < m && m < high)) m = between(low, high, from, excess > 0.0);
      if (std::abs(m - from) <= 4e-16 * from || m == low || m == high) break;
    }
    return m;
  }
  [[nodiscard]] double gain(double lam) const {
    if (lam <= 0.0 || (is_unit && lam >= 1.0)) return 0.0;
    const double curvature = curvature_at(lam);
    return curvature > 0.0 ? 1.0 / curvature : 0.0;
  }
  [[nodiscard]] double slope_limit() const { return limit_; }
  [[nodiscard]] double inflection() const { return inf; }
  [[nodiscard]] double log_evidence(double lam) const { return F{}.log_evidence(n_, mean_, lam, c_); }

 private:
  static constexpr bool is_unit = F::domain == Domain::unit;

  [[nodiscard]] double slope_at(double m) const {
    const double up = count_slope(total_, m, c_);
    return is_unit ? up - count_slope(n_ - total_, 1.0 - m, c_) : limit_ + up;
  }
  [[nodiscard]] double curvature_at(double m) const {
    const double up = count_curvature(total_, m, c_);
    return is_unit ? up + count_curvature(n_ - total_, 1.0 - m, c_) : up;
  }
  /// A point of (low, high) to go on with when Newton's method has left it. `above`: the slope is too large
  /// at m.
  [[nodiscard]] static double between(double low, double high, double m, bool above) {
    double next = 0.5 * (low + high);
    if (high == inf) {
      next = 2.0 * m;
    } else if (low > 0.0 && high >= 16.0 * low) {
      next = std::sqrt(low * high);  // ends of different size: halve the logarithm
    }
    return low == 0.0 && above ? std::min(next, 0.0625 * high) : next;  // the root may be many sizes below
  }

  double n_, mean_, c_;
  double total_;  ///< the count S
  double limit_;  ///< n - c log(1 + n/c), without cancellation, where counts have no upper end
  double minimiser_ = 0.0, minimum_ = 0.0;
};

}  // namespace linkarms
