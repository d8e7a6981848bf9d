// The linear problem where every step has a pole: exponential, gamma by rate and Poisson arms, and numbers that stay.
#pragma once

#include <span>

#include "pair/number.hpp"

namespace linkarms {

/// Whether the steps of all numbers that move have a pole; where some stay, one has to rise.
[[nodiscard]] bool has_poles(std::span<const Number> numbers);

/// `linear_cost` where `has_poles`.
[[nodiscard]] double pole_cost(std::span<Number> numbers, double level);

}  // namespace linkarms
