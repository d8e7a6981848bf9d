// One number that moves in a pair problem, whatever its cost.
#pragma once

#include <cmath>
#include <cstddef>
#include <variant>

#include "family/mixture.hpp"
#include "family/scalar.hpp"
#include "family/variance_mixture.hpp"
#include "math/constants.hpp"

namespace linkarms {

/// A distance x >= 0 with the cost a log(1 + (x / b)^2), from Student's t; convex up to x = b.
struct Student {
  double a, b;

  [[nodiscard]] double rise(double x) const { return a * std::log1p((x / b) * (x / b)); }
  /// The smaller root of a 2x / (b^2 + x^2) = slope; at the inflection where there is none.
  [[nodiscard]] double step(double slope) const {
    if (slope <= 0.0) return 0.0;
    const double y = slope * b;
    return y >= a ? b : y * b / (a + std::sqrt(a * a - y * y));
  }
  [[nodiscard]] double gain(double x) const {
    const double b2 = b * b, x2 = x * x;
    return x2 < b2 ? (b2 + x2) * (b2 + x2) / (2.0 * a * (b2 - x2)) : 0.0;
  }
};

/// A number that cannot move.
struct Fixed {};

/// What a number costs: the KL of a family, a centred mixture above its minimum, a Student distance, or
/// infinitely much. Families and mixtures belong to somebody else, who keeps them until the problem is
/// solved.
using NumberCost = std::variant<Fixed, const Scalar*, const Mixture*, Student, VarianceMixture>;

/// One number of a problem under the constraint sum kappa lambda >= 0. Solvers write `cap` and `lam`.
struct Number {
  double theta = 0.0;   ///< where its cost is zero
  double weight = 1.0;  ///< its cost counts so many times
  double kappa = 0.0;   ///< its coefficient in the constraint
  NumberCost kind;
  double cap = inf;    ///< its cost is convex up to here
  double lam = theta;  ///< where it is, or went

  [[nodiscard]] bool is_divergence() const { return std::holds_alternative<const Scalar*>(kind); }

  /// The cost at x, without the weight.
  [[nodiscard]] double cost(double x) const {
    if (const auto* family = std::get_if<const Scalar*>(&kind)) return kl(**family, theta, x);
    if (const auto* mixture = std::get_if<const Mixture*>(&kind)) return (*mixture)->rise(x);
    if (const auto* student = std::get_if<Student>(&kind)) return student->rise(x);
    if (const auto* distance = std::get_if<VarianceMixture>(&kind)) return distance->rise(x);
    return x == theta ? 0.0 : inf;
  }
  /// argmin over x up to the inflection of cost(x) - slope x.
  [[nodiscard]] double step(double slope) const {
    if (const auto* family = std::get_if<const Scalar*>(&kind)) return linkarms::step(**family, theta, slope);
    if (const auto* mixture = std::get_if<const Mixture*>(&kind)) return (*mixture)->step(slope);
    if (const auto* student = std::get_if<Student>(&kind)) return student->step(slope);
    if (const auto* distance = std::get_if<VarianceMixture>(&kind)) return distance->step(slope);
    return theta;
  }
  /// The derivative of the step in the slope, at a slope whose step is x.
  [[nodiscard]] double gain(double slope, double x) const {
    if (const auto* family = std::get_if<const Scalar*>(&kind)) return linkarms::gain(**family, theta, slope, x);
    if (const auto* mixture = std::get_if<const Mixture*>(&kind)) return (*mixture)->gain(x);
    if (const auto* student = std::get_if<Student>(&kind)) return student->gain(x);
    if (const auto* distance = std::get_if<VarianceMixture>(&kind)) return distance->gain(x);
    return 0.0;
  }
  /// The slope at which the step becomes infinite.
  [[nodiscard]] double slope_limit() const {
    if (const auto* family = std::get_if<const Scalar*>(&kind)) return linkarms::slope_limit(**family, theta);
    if (const auto* mixture = std::get_if<const Mixture*>(&kind)) return (*mixture)->slope_limit();
    return inf;
  }
  /// Where the cost stops being convex.
  [[nodiscard]] double inflection() const {
    if (const auto* family = std::get_if<const Scalar*>(&kind)) return linkarms::inflection(**family, theta);
    if (const auto* mixture = std::get_if<const Mixture*>(&kind)) return (*mixture)->inflection();
    if (const auto* student = std::get_if<Student>(&kind)) return student->b;
    if (const auto* distance = std::get_if<VarianceMixture>(&kind)) return distance->inflection();
    return inf;
  }
  /// Whether the cost is linear, so that the step jumps from theta to infinity: counts of which none, or one,
  /// was seen.
  [[nodiscard]] bool is_linear() const {
    if (theta != 0.0) return false;
    if (const auto* family = std::get_if<const Scalar*>(&kind)) return is<Poisson>(**family);
    if (const auto* mixture = std::get_if<const Mixture*>(&kind)) return (*mixture)->slope_limit() < inf;
    return false;
  }
};

/// Most numbers of one problem: four arms in two dimensions.
inline constexpr std::size_t most_numbers = 8;

}  // namespace linkarms
