// Projection onto the simplex of weights.
#pragma once

#include "math/matrix.hpp"

namespace linkarms {

/// Move w to the nearest point with non-negative entries that add up to one; where costs are given, finite and
/// above zero, entries times their costs do.
void project_simplex(MutView w, View costs = {});

}  // namespace linkarms
