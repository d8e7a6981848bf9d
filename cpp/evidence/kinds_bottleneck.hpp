// The definition behind `make_bottleneck`, for the files that instantiate it.
#pragma once

#include <type_traits>

#include "evidence/bottleneck.hpp"
#include "evidence/kinds.hpp"

namespace linkarms {

template <class Pairs>
std::unique_ptr<AnytimeEvidence> make_bottleneck(const Model& model, const std::vector<double>& grid, double discount,
                                                 double tolerance) {
  if constexpr (std::is_constructible_v<Pairs, const Model&, const std::vector<double>&, double, double>)
    return std::make_unique<BottleneckEvidence<Pairs>>(model, grid, discount, tolerance);
  else
    return std::make_unique<BottleneckEvidence<Pairs>>(model, grid, discount);
}

}  // namespace linkarms
