// Where the parameter of a one-dimensional family may lie.
#pragma once

#include "math/constants.hpp"

namespace linkarms {

/// Estimates of rates and means that must be positive are kept above this (an arm whose samples are all
/// zero).
inline constexpr double tiny = 1e-100;

/// Where a parameter may lie, as far as a prior and a confidence region need to know.
enum class Domain { line, half_line, unit };

[[nodiscard]] constexpr double lowest(Domain d) {
  return d == Domain::line ? -inf : 0.0;
}
[[nodiscard]] constexpr double highest(Domain d) {
  return d == Domain::unit ? 1.0 : inf;
}

}  // namespace linkarms
