// Matrix games: the largest minimum of a few linear functions on the simplex.
#pragma once

#include <span>

#include "math/matrix.hpp"

namespace linkarms {

/// Maximise min_j (rows_j . w) over the simplex; fills `weights` with a maximiser and `mixture` with the
/// multipliers, which add up to one. Returns max_m (sum_j mixture_j rows_j)_m, an upper bound of the value
/// that does not rest on the pivots. There is at least one row, and entries are non-negative. Which
/// multipliers are positive before the call decides only the order of the pivots.
double solve_game(std::span<const View> rows, MutView weights, MutView mixture);

}  // namespace linkarms
