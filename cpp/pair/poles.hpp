// The linear problem where every step has a pole: exponential, gamma by rate and Poisson arms.
#pragma once

#include <span>

#include "pair/number.hpp"

namespace linkarms {

/// Whether the steps of all numbers have a pole.
[[nodiscard]] bool has_poles(std::span<const Number> numbers);

/// `linear_cost` where `has_poles`.
[[nodiscard]] double pole_cost(std::span<Number> numbers, double level);

}  // namespace linkarms
