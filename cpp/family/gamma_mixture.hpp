// The centred mixtures of gamma arms, as costs of one number; see family/mixture.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include "family/gamma.hpp"
#include "math/phi.hpp"

namespace linkarms {

/// By the rate:  l(lam) - min l = A phi(S (lam - lam0) / A)  with  A = k (n + c) + 1,  lam0 = (k n + 1) / S.
class RateMixture {
 public:
  RateMixture(GammaRate family, double n, double mean, double c)
      : family_(family),
        n_(n),
        mean_(mean),
        c_(c),
        total_(std::max(n * mean, tiny)),
        order_(family.shape * (n + c) + 1.0),
        offset_(family.shape * c / total_) {}

  [[nodiscard]] double minimiser() const { return (family_.shape * n_ + 1.0) / total_; }
  [[nodiscard]] double rise(double lam) const { return lam >= 0.0 ? order_ * phi(total_ * (lam - minimiser()) / order_) : inf; }
  [[nodiscard]] double step(double slope) const {
    return slope < total_ ? std::max(order_ / (total_ - slope) - offset_, 0.0) : inf;
  }
  [[nodiscard]] double gain(double lam) const { return lam > 0.0 ? (lam + offset_) * (lam + offset_) / order_ : 0.0; }
  [[nodiscard]] double slope_limit() const { return total_; }
  [[nodiscard]] double inflection() const { return inf; }
  [[nodiscard]] double log_evidence(double lam) const { return family_.log_evidence(n_, mean_, lam, c_); }

 private:
  GammaRate family_;
  double n_, mean_, c_;
  double total_, order_;  ///< S and A; samples that are all zero leave the rate without a minimiser, so S > 0
  double offset_;         ///< k c / S
};

/// By the mean, in y = k S / lam:  l - min l = A phi((y - B) / A)  and  dl/dlam = y^2 (B - y) / ((X + y) k S)
/// with  B = k n + 1, X = k c. Convex up to the inflection, where y is the positive root of 2 y^2 + (3 X - B)
/// y - 2 B X = 0; beyond it l levels off.
class MeanMixture {
 public:
  MeanMixture(GammaMean family, double n, double mean, double c)
      : family_(family),
        n_(n),
        mean_(mean),
        c_(c),
        scale_(family.shape * std::max(n * mean, tiny)),
        b_(family.shape * n + 1.0),
        x_(family.shape * c) {
    const double q = b_ - 3.0 * x_, root = std::sqrt(q * q + 16.0 * b_ * x_);
    edge_ = q > 0.0 ? 0.25 * (q + root) : 4.0 * b_ * x_ / (root - q);  // by the form that does not cancel
  }

  [[nodiscard]] double minimiser() const { return scale_ / b_; }
  [[nodiscard]] double rise(double lam) const {
    if (lam <= 0.0) return inf;
    const double order = family_.shape * (n_ + c_) + 1.0, y = lam == inf ? 0.0 : scale_ / lam;
    return order * phi((y - family_.shape * n_ - 1.0) / order);
  }
  /// Newton's method inside a bracket, for y: before the inflection the slope falls in y.
  [[nodiscard]] double step(double slope) const {
    const double wanted = slope * scale_;
    double low = edge_, high = b_;
    if (wanted == 0.0) return minimiser();
    if (wanted > 0.0) {
      if (wanted >= slope_at(edge_)) return inflection();
    } else {
      for (low = b_, high = 2.0 * b_; slope_at(high) > wanted; high *= 2.0) low = high;
    }
    double y = 0.5 * (low + high);
    for (int i = 0; i < 200; ++i) {
      const double value = slope_at(y) - wanted, derivative = bend_at(y), from = y;
      (value > 0.0 ? low : high) = y;
      y = derivative < 0.0 ? y - value / derivative : inf;
      if (!(low < y && y < high)) y = 0.5 * (low + high);
      if (std::abs(y - from) <= 4e-16 * from || y == low || y == high) break;
    }
    return scale_ / y;
  }
  [[nodiscard]] double gain(double lam) const {
    const double y = scale_ / lam, curvature = -bend_at(y) * y / (lam * scale_);
    return curvature > 0.0 ? 1.0 / curvature : 0.0;
  }
  [[nodiscard]] double slope_limit() const { return inf; }
  [[nodiscard]] double inflection() const { return scale_ / edge_; }
  [[nodiscard]] double log_evidence(double lam) const { return family_.log_evidence(n_, mean_, lam, c_); }

 private:
  /// k S dl/dlam as a function of y, and its derivative.
  [[nodiscard]] double slope_at(double y) const { return y * y * (b_ - y) / (x_ + y); }
  [[nodiscard]] double bend_at(double y) const {
    return (2.0 * y * (b_ - y) - y * y) / (x_ + y) - y * y * (b_ - y) / ((x_ + y) * (x_ + y));
  }

  GammaMean family_;
  double n_, mean_, c_;
  double scale_, b_, x_, edge_;  ///< k S, B, X, and y at the inflection
};

}  // namespace linkarms
