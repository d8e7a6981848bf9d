// Evidence of arms with a variance per coordinate or a covariance each where the goal is another than K clusters exactly:
// under a distance threshold, and with a tolerance (sections 7.1 and 8 of math.md).
#pragma once

#include <algorithm>
#include <vector>

#include "evidence/own_variance.hpp"

namespace linkarms {

/// Against merges and splits.
class OwnVarianceThreshold : public OwnVarianceEvidence {
 public:
  OwnVarianceThreshold(const Model& model, const Task& task, std::vector<double> grid, double discount)
      : OwnVarianceEvidence(model, std::move(grid), discount, 0.0, Shapes::own, Limits(task)) {}
};

/// With a tolerance: the larger of two lower bounds of the same infimum, without the tolerance and at the largest
/// variance of each arm.
class TolerantVarianceEvidence {
 public:
  static constexpr EvidenceUnit unit = EvidenceUnit::set;
  static constexpr bool averages_grid = true;
  static constexpr long long most_work = OwnVarianceEvidence::most_work;

  TolerantVarianceEvidence(const Model& model, const std::vector<double>& grid, double discount, double tolerance)
      : plain_(model, grid, discount, tolerance), round_(model, grid, discount, tolerance, OwnVarianceEvidence::Shapes::round) {}

  [[nodiscard]] double against(const Situation& now, const Witness& w, double level, Index first) {
    const double bound = round_.against(now, w, level, first);
    return bound >= level ? bound : std::max(bound, plain_.against(now, w, level, first));
  }
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level, Index first) {
    return round_.is_below(now, w, level, first) && plain_.is_below(now, w, level, first);
  }
  [[nodiscard]] Index best_scale(const Situation& now, const Witness& w, Index scale) { return round_.best_scale(now, w, scale); }
  [[nodiscard]] std::vector<SpreadBounds> bounds(const Situation& now, double level, Index first, const Witness& at) {
    return round_.bounds(now, level, first, at);
  }
  [[nodiscard]] long long work() const { return plain_.work() + round_.work(); }
  [[nodiscard]] long long work_limit() const { return plain_.work_limit(); }
  void sampled(const Situation&, Index) const {}
  void forget() {
    plain_.forget();
    round_.forget();
  }

 private:
  OwnVarianceEvidence plain_, round_;
};

}  // namespace linkarms
