// Separable costs under one linear constraint (section 2.1 of math.md, one-dimensional families).
//
//   minimise  sum_m w_m f_m(lambda_m)   subject to   sum_m kappa_m lambda_m >= 0
//
// At most `most_numbers` numbers. Nothing here allocates. A user's own cost may throw through everything.
#pragma once

#include <span>

#include "pair/number.hpp"

namespace linkarms {

/// The minimum, or a lower bound of it within 1e-9, relatively; leaves the minimiser in `lam`.
/// A cost above `level` is only known to be that; a value up to `level` does not depend on it.
[[nodiscard]] double linear_cost(std::span<Number> numbers, double level);

/// The minimum over numbers before their inflections, infinite if there is none: an upper bound of
/// `linear_cost` for far less work. Leaves the minimiser in `lam`.
[[nodiscard]] double convex_cost(std::span<Number> numbers);

}  // namespace linkarms
