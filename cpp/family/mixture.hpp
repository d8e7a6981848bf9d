// Centred mixtures as costs of one number: where the log evidence l is smallest, how it rises, and its
// one-arm step.
//
// For an arm with n samples, S their sum, and a prior that weighs as much as c samples (section 5 of
// math.md), l(lam) - min l is to a pair problem what KL(theta, lam) is, with the minimiser of l in the place
// of theta. Gaussian arms need no such object: theirs is the KL with the weight n^2 / (n + c).
#pragma once

#include <stdexcept>
#include <utility>
#include <variant>

#include "family/bets.hpp"
#include "family/count_mixture.hpp"
#include "family/gamma_mixture.hpp"
#include "family/scalar.hpp"

namespace linkarms {

/// The centred mixture of one arm with one parameter, after n >= 1 samples. Knows its minimiser, which is not
/// the estimate.
class Mixture {
 public:
  /// Throws std::invalid_argument for a Gaussian and for a user's own family.
  Mixture(const Scalar& family, double n, double mean, double c)
      : kind_(std::visit(Make{n, mean, c}, family)), minimum_(log_evidence(minimiser())) {}
  /// Bets on bounded samples.
  explicit Mixture(Bets bets) : kind_(std::move(bets)), minimum_(log_evidence(minimiser())) {}

  /// Where l is smallest, and its value there.
  [[nodiscard]] double minimiser() const {
    return std::visit([](const auto& f) { return f.minimiser(); }, kind_);
  }
  [[nodiscard]] double minimum() const { return minimum_; }
  /// l(lam) - min l; infinite outside the domain.
  [[nodiscard]] double rise(double lam) const {
    return std::visit([=](const auto& f) { return f.rise(lam); }, kind_);
  }
  /// argmin over lam of l(lam) - slope lam, before the inflection; infinite at or beyond the slope limit.
  [[nodiscard]] double step(double slope) const {
    return std::visit([=](const auto& f) { return f.step(slope); }, kind_);
  }
  /// Derivative of the step in the slope, 1 / l''(lam); it only steers Newton's method.
  [[nodiscard]] double gain(double lam) const {
    return std::visit([=](const auto& f) { return f.gain(lam); }, kind_);
  }
  /// The slope at which the step becomes infinite (inf: never).
  [[nodiscard]] double slope_limit() const {
    return std::visit([](const auto& f) { return f.slope_limit(); }, kind_);
  }
  /// Where l stops being convex (inf: nowhere).
  [[nodiscard]] double inflection() const {
    return std::visit([](const auto& f) { return f.inflection(); }, kind_);
  }
  [[nodiscard]] double log_evidence(double lam) const {
    return std::visit([=](const auto& f) { return f.log_evidence(lam); }, kind_);
  }

 private:
  using Kind = std::variant<RateMixture, MeanMixture, CountMixture<Bernoulli>, CountMixture<Poisson>, Bets>;

  struct Make {
    double n, mean, c;
    Kind operator()(const GammaRate& f) const { return RateMixture(f, n, mean, c); }
    Kind operator()(const GammaMean& f) const { return MeanMixture(f, n, mean, c); }
    Kind operator()(const Bernoulli& f) const { return CountMixture<Bernoulli>(f, n, mean, c); }
    Kind operator()(const Poisson& f) const { return CountMixture<Poisson>(f, n, mean, c); }
    Kind operator()(const Gaussian&) const {
      throw std::invalid_argument("a Gaussian arm needs no mixture; use its divergence with the weight n^2 / (n + c)");
    }
    Kind operator()(const UserFamily&) const {
      throw std::invalid_argument("a user's own family has no centred mixture; use a family that the package ships");
    }
  };

  Kind kind_;
  double minimum_;
};

}  // namespace linkarms
