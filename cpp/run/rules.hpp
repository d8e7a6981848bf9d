// The sampling and stopping rules that the core knows, as values. A rule that is asked in Python is none of
// them: std::monostate.
#pragma once

#include <variant>
#include <vector>

#include "evidence/union.hpp"

namespace linkarms {

/// EBC (Algorithm 1 of the paper): track the average of weights that climb psi with steps of size step /
/// sqrt(t).
struct Ebc {
  double step = 1.0;
};
/// EBC-H: pull the arm that moves most in the nearest alternative.
struct EbcH {};
/// One arm after the other.
struct RoundRobin {};
/// Pull the least sampled arm of the two least certain pairs; `level` is log(1/delta).
struct Lucbboc {
  double level = 0.0;
};
/// Track the average of weights within the relative `gap` of the maximum of psi.
struct Atboc {
  double gap = 1e-3;
};
using SamplingRule = std::variant<std::monostate, Ebc, EbcH, RoundRobin, Lucbboc, Atboc>;

/// The paper's threshold; `log_volume` is log |Theta| of the free parameters of one arm.
struct PaperStop {
  double epsilon = 0.01, log_volume = 0.0;
};
/// psi against the level alone.
struct LevelStop {};
/// The threshold of ATBOC and LUCBBOC.
struct BocStop {};
/// The anytime rule. Prices, and what its threshold has besides log(1/delta), are divided by `discount`.
/// Version 1 pays for all sets of three or four arms, version 2 for the union that the question needs; see
/// make_anytime_evidence for what else they differ in. A run ends under the version that it began with.
struct AnytimeStop {
  std::vector<double> grid;
  double discount = 1.0;
  int version = 1;
  Question question{};
};
using StoppingRule = std::variant<std::monostate, PaperStop, LevelStop, BocStop, AnytimeStop>;

}  // namespace linkarms
