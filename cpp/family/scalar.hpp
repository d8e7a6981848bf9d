// The one-dimensional families: one struct each, with the same functions, and a variant over all of them.
//
// theta is the estimate, lam the value tested. Every family has
// - kl(theta, lam): KL divergence of one sample; infinite where lam is outside the domain
// - step(theta, slope): argmin over lam of KL(theta, lam) - slope lam (before the inflection); increasing in slope
// - gain(theta, slope, lam): derivative of step in the slope, 1 / KL''(lam): it only steers Newton's method
// - slope_limit(theta): the slope at which step becomes infinite (inf: never)
// - inflection(theta): where KL(theta, .) stops being convex (inf: nowhere)
// - fisher(theta): Fisher information of one sample
// - estimate(mean): maximum likelihood estimate from the mean of the sufficient statistics
// - log_evidence(n, mean, lam, c): log evidence of n >= 1 samples against lam (section 5 of math.md); NaN where there is none
// - domain: where the parameter may lie
#pragma once

#include <variant>

#include "family/bernoulli.hpp"
#include "family/gamma.hpp"
#include "family/gaussian.hpp"
#include "family/poisson.hpp"
#include "family/user_family.hpp"

namespace linkarms {

using Scalar = std::variant<Gaussian, GammaRate, GammaMean, Bernoulli, Poisson, UserFamily>;

[[nodiscard]] inline double kl(const Scalar& f, double theta, double lam) {
  return std::visit([=](const auto& g) { return g.kl(theta, lam); }, f);
}
[[nodiscard]] inline double step(const Scalar& f, double theta, double slope) {
  return std::visit([=](const auto& g) { return g.step(theta, slope); }, f);
}
[[nodiscard]] inline double gain(const Scalar& f, double theta, double slope, double lam) {
  return std::visit([=](const auto& g) { return g.gain(theta, slope, lam); }, f);
}
[[nodiscard]] inline double slope_limit(const Scalar& f, double theta) {
  return std::visit([=](const auto& g) { return g.slope_limit(theta); }, f);
}
[[nodiscard]] inline double inflection(const Scalar& f, double theta) {
  return std::visit([=](const auto& g) { return g.inflection(theta); }, f);
}
[[nodiscard]] inline double fisher(const Scalar& f, double theta) {
  return std::visit([=](const auto& g) { return g.fisher(theta); }, f);
}
[[nodiscard]] inline double estimate(const Scalar& f, double mean) {
  return std::visit([=](const auto& g) { return g.estimate(mean); }, f);
}
/// 0 without samples, whatever the family.
[[nodiscard]] inline double log_evidence(const Scalar& f, double n, double mean, double lam, double c) {
  if (n <= 0.0) return 0.0;
  return std::visit([=](const auto& g) { return g.log_evidence(n, mean, lam, c); }, f);
}
[[nodiscard]] inline Domain domain(const Scalar& f) {
  return std::visit([](const auto& g) -> Domain { return g.domain; }, f);
}
template <class F>
[[nodiscard]] bool is(const Scalar& f) {
  return std::holds_alternative<F>(f);
}

}  // namespace linkarms
