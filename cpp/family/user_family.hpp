// A user's own one-parameter family: functions that somebody else wrote.
#pragma once

#include <cmath>
#include <memory>

#include "family/domain.hpp"

namespace linkarms {

/// The functions of a user's own family; see family/scalar.hpp for what each one is. They may throw, and what
/// they throw reaches the caller; none returns NaN, and kl and fisher nothing below 0. They are called from any thread, but
/// never from two at once for one run.
class UserFunctions {
 public:
  virtual ~UserFunctions() = default;
  [[nodiscard]] virtual double kl(double theta, double lam) const = 0;
  [[nodiscard]] virtual double step(double theta, double slope) const = 0;
  [[nodiscard]] virtual double fisher(double theta) const = 0;
  [[nodiscard]] virtual double estimate(double mean) const = 0;
  [[nodiscard]] virtual double slope_limit(double theta) const = 0;
  [[nodiscard]] virtual double inflection(double theta) const = 0;
  /// Throws unless theta, an estimate after clipping, can be one: in the domain, and kl is 0 there and finite beside it.
  virtual void check_estimate(double theta) const = 0;
};

/// A family that the package does not ship.
struct UserFamily {
  std::shared_ptr<const UserFunctions> functions;
  Domain domain;

  [[nodiscard]] double kl(double theta, double lam) const { return functions->kl(theta, lam); }
  [[nodiscard]] double step(double theta, double slope) const { return functions->step(theta, slope); }
  /// By a difference quotient: no user is asked for a second derivative.
  [[nodiscard]] double gain(double theta, double slope, double lam) const {
    const double h = 1e-6 * (1.0 + std::abs(slope));
    return (lam - step(theta, slope - h)) / h;
  }
  [[nodiscard]] double slope_limit(double theta) const { return functions->slope_limit(theta); }
  [[nodiscard]] double inflection(double theta) const { return functions->inflection(theta); }
  [[nodiscard]] double fisher(double theta) const { return functions->fisher(theta); }
  [[nodiscard]] double estimate(double mean) const { return functions->estimate(mean); }
  /// No prior is known to be conjugate: the family has no centred mixture.
  [[nodiscard]] double log_evidence(double, double, double, double) const { return nan; }
};

}  // namespace linkarms
