// LUCBBOC's choice: confidence bounds on distances.
#pragma once

#include <cstdint>
#include <span>

#include "linkage/distances.hpp"
#include "linkage/partition.hpp"

namespace linkarms {

/// The least sampled arm of the widest pair inside a cluster and the closest pair of two clusters, by their
/// confidence bounds.
///   r_m = sqrt(2 beta / n_m),  beta = 2 level + sum_m boc_penalty(n_m)
/// Upper bounds |theta_u - theta_v| + r_u + r_v inside clusters, of which the longest edge of a minimum
/// spanning tree counts (for two arms: the only one); lower bounds |theta_a - theta_b| - r_a - r_b between
/// them. Ties break by index. `n` are pulls, none of them zero.
[[nodiscard]] Index lucb_choice(const Distances& dist, const Clusters& clusters, std::span<const std::int64_t> n,
                                Index n_features, double level);

}  // namespace linkarms
