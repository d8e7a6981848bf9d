// Vectors of probabilities under one linear constraint.
#pragma once

#include "pair/moving_arms.hpp"

namespace linkarms {

/// The minimum of sum_m w_m KL(theta_m, lambda_m) over probabilities with sum_m kappa_m . lambda_m >= 0;
/// `kappa` and `point`, which becomes the minimiser, have one row per arm. Maximises the concave dual in one
/// multiplier by Newton's method inside a bracket; the value is that of the dual, hence never above the minimum.
/// The search ends early where it reaches `level`. It begins at `mu` if that is positive, and leaves the
/// multiplier there.
[[nodiscard]] double categorical_cost(const MovingArms& arms, const Matrix& kappa, double level, double& mu, Matrix& point);

}  // namespace linkarms
