// Projection onto the simplex of weights.
#pragma once

#include "math/matrix.hpp"

namespace linkarms {

/// Move w to the nearest point with non-negative entries that add up to one.
void project_simplex(MutView w);
/// The same where the entries, times their costs, add up to one. Costs are finite and above zero.
void project_simplex(MutView w, View costs);

}  // namespace linkarms
