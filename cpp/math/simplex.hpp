// Projection onto the simplex of weights.
#pragma once

#include "math/matrix.hpp"

namespace linkarms {

/// Move w to the nearest point with non-negative entries that add up to one.
void project_simplex(MutView w);

}  // namespace linkarms
