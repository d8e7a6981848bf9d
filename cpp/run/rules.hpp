// The sampling and stopping rules that the core knows, as values. A rule that is asked in Python is none of
// them: std::monostate.
#pragma once

#include <variant>
#include <vector>

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
/// The anytime rule. `base` is what its threshold has besides log(1/delta); prices are divided by `discount`.
struct AnytimeStop {
  std::vector<double> grid;
  double base = 0.0, discount = 1.0;
  int version = 1;  ///< a run ends under the version that it began with: see make_anytime_evidence
};
using StoppingRule = std::variant<std::monostate, PaperStop, LevelStop, BocStop, AnytimeStop>;

}  // namespace linkarms
