// What each arm adds to the threshold of the paper's rule and of ATBOC's and LUCBBOC's.
#pragma once

#include "family/model.hpp"
#include "math/matrix.hpp"
#include "run/rules.hpp"

namespace linkarms {

/// W = log(1 - 2 Q(x)) for x > 0, Q the Gaussian upper tail.
[[nodiscard]] double log_inner_mass(double x);

/// Arm m's part of the paper's threshold beta (section 3 of math.md), everything but log(1/delta), after n >=
/// 1 samples:
///   (d/2) log(I N) - d W + log |Theta| - (d/2) log(2 pi) + N sum_i max(KL(theta, theta -+ eps e_i))
/// with I the largest eigenvalue of the Fisher information at theta and W = log(1 - 2 Q(eps sqrt(N I))). The
/// paper has the largest eigenvalue of the observed information under the root; where that is random
/// (Bernoulli, Poisson, means) its expectation N I is taken instead, where it is not (Gaussian, rates) the
/// two are the same.
[[nodiscard]] double paper_penalty(const Model& model, Index m, View theta, double n, const PaperStop& rule);

/// An arm's part of 2 [log(1/delta) + (d/2) sum_m log(N_m + 1)].
[[nodiscard]] double boc_penalty(double n, Index n_features);

}  // namespace linkarms
