// Confidence regions of the arms' parameters, valid at all times together.
//
// The region of an arm is where the evidence does not speak against a value: l(lam) < log(M / delta). Since
// exp(l) is a martingale of mean one at the truth (section 5 of math.md), Ville's inequality and a union
// bound over the arms give: with probability at least 1 - delta every arm's parameter is in its region at
// every moment, however arms were chosen and whenever one looks.
#pragma once

#include <span>

#include "family/model.hpp"
#include "family/samples.hpp"
#include "math/matrix.hpp"

namespace linkarms {

/// How far the region of each arm (row) reaches from its estimate along each direction (column), in multiples
/// of the direction; never too small. Infinite where nothing bounds the region, NaN for an arm without a
/// sample. Directions of categorical arms are taken along the simplex. Where the variance is unknown they come
/// from `moments` (of one per arm: balls); without moments nothing bounds them. Throws std::invalid_argument for a
/// user's own family, which has no mixture, and for arrays of another shape than the model's.
[[nodiscard]] Matrix confidence_radii(const Model& model, std::span<const Index> counts, const Matrix& means,
                                      const Matrix& directions, double delta, std::span<const Moments> moments);

}  // namespace linkarms
