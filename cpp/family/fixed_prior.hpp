// The price of not knowing the parameter, for arms without a centred mixture: a fixed prior (section 5 of
// math.md).
//
// For an exponential family and a prior pi the evidence  log of integral pi(x) prod p(sample | x) / p(sample
// | lam) dx  is n KL(estimate, lam) - R  with  R = -log of integral pi(x) exp(-n KL(estimate, x)) dx: the
// ordinary costs, less one number per arm.
#pragma once

#include "family/scalar.hpp"
#include "math/matrix.hpp"

namespace linkarms {

/// The prior's distribution function: uniform on the unit interval; elsewhere log |x| is Cauchy, so that no
/// scale is special.
[[nodiscard]] double prior_mass_below(Domain domain, double x);

/// R of one number after n samples with the estimate theta, rounded up so that the evidence is never above
/// the true one; 0 without samples.
[[nodiscard]] double regret(const Scalar& f, double n, double theta);

/// R of a vector of probabilities under the prior Dirichlet(1/2), in closed form; n >= 1.
[[nodiscard]] double categories_regret(double n, View theta);

}  // namespace linkarms
