// Evidence of Gaussian arms of unknown variance, centred at the tested mean and variance (section 6 of
// math.md).
#pragma once

#include <array>

#include "evidence/pairs.hpp"
#include "family/variance_mixture.hpp"

namespace linkarms {

/// Each arm has its own variance; evidence/shared_variance.hpp is for one variance of all arms.
class CentredVarianceEvidence {
 public:
  static constexpr EvidenceUnit unit = EvidenceUnit::set;
  static constexpr bool averages_grid = false;
  /// Pieces for one statistic, 10 to 150 us each.
  static constexpr long long most_work = 2000;

  CentredVarianceEvidence(const Model& model, std::vector<double> grid, double discount)
      : model_(&model), grid_(std::move(grid)), discount_(discount) {}

  [[nodiscard]] double against(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] Index best_scale(const Situation& now, const Witness& w, Index scale) const;
  [[nodiscard]] std::vector<SpreadBounds> bounds(const Situation& now, double level, Index first, const Witness& at) const;
  void sampled(const Situation&, Index) const {}
  void forget() const {}
  /// Pieces that `against` was asked for so far.
  [[nodiscard]] long long work() const { return work_; }

 private:
  /// Where the arms u, v, b, a of a witness went, as distances, and by which of the two ways of `ways`.
  struct Point {
    Witness witness;
    std::size_t way = 0;
    std::array<double, 4> distance{};
  };
  /// The evidence for one c, or any value of at least `level` that it is sure to reach. Where `went` is given: an
  /// upper bound, from the part where all rises are convex, for far less work.
  [[nodiscard]] double at_scale(const Situation& now, const Witness& w, double level, double c, Point* went = nullptr) const;
  [[nodiscard]] double upper_bound(const Situation& now, const Witness& w, double c, Point& went) const;
  /// Whether the evidence at the kept point, moved as far as the constraint asks, is below `level` for every
  /// c.
  [[nodiscard]] bool point_is_below(const Situation& now, const Witness& w, double level) const;
  [[nodiscard]] VarianceMixture mixture(const Samples& samples, Index m, double c) const {
    return {static_cast<double>(samples.count(m)), samples.moments(m).all_squares, c, static_cast<double>(model_->n_features())};
  }

  const Model* model_;
  std::vector<double> grid_;
  double discount_;
  long long work_ = 0;
  Point kept_;  ///< what was last seen to forbid a stop: it only saves work
};

}  // namespace linkarms
