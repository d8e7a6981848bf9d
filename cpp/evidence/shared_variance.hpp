// Evidence of Gaussian arms that share one unknown variance, centred at the tested means and variance (section 6
// of math.md).
#pragma once

#include "evidence/pairs.hpp"

namespace linkarms {

/// The tested precision is common to the arms of a pair of pairs: their n, T and R are added up first.
class SharedVarianceEvidence {
 public:
  static constexpr EvidenceUnit unit = EvidenceUnit::set;
  static constexpr bool averages_grid = false;
  /// Pieces for one statistic, about 20 us each.
  static constexpr long long most_work = 2000;

  /// With a tolerance, lengths between clusters come stretched by it.
  SharedVarianceEvidence(const Model& model, std::vector<double> grid, double discount, double tolerance = 0.0)
      : model_(&model), grid_(std::move(grid)), discount_(discount), tolerance_(tolerance) {}

  [[nodiscard]] double against(const Situation& now, const Witness& w, double level, Index first) const;
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level, Index first) const {
    return !(against(now, w, level, first) >= level);
  }
  [[nodiscard]] Index best_scale(const Situation& now, const Witness& w, Index scale) const;
  /// For the c by which arms are chosen, and for the largest, which has the smallest prices.
  [[nodiscard]] std::vector<SpreadBounds> bounds(const Situation& now, double level, Index first, const Witness& at) const;
  void sampled(const Situation&, Index) const {}
  void forget() const {}

 private:
  [[nodiscard]] double at_scale(const Situation& now, const Witness& w, double c) const;
  [[nodiscard]] SpreadBounds bounds_of(const Samples& samples, double level, double c) const;

  const Model* model_;
  std::vector<double> grid_;
  double discount_, tolerance_;
};

}  // namespace linkarms
