// Evidence of Gaussian arms of unknown variance: universal inference (section 5 of math.md).
//
// Samples are predicted from those before them, and the predictions are compared with the best that any
// variance could have done on the same samples. With n, S, xbar of the predicted samples of an arm in d
// dimensions:
//   l(lam) = sum of log predictive densities + (n d / 2) (log(2 pi (S + n |xbar - lam|^2) / (n d)) + 1)
#pragma once

#include "evidence/pairs.hpp"

namespace linkarms {

class UnknownVarianceEvidence {
 public:
  static constexpr EvidenceUnit unit = EvidenceUnit::set;
  static constexpr bool averages_grid = false;

  /// There is no c; a discount divides what is paid for not knowing the parameters.
  UnknownVarianceEvidence(const Model& model, const std::vector<double>&, double discount)
      : model_(&model), paid_(1.0 / discount) {}

  [[nodiscard]] double against(const Situation& now, const Witness& w, double level, Index first) const;
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level, Index first) const {
    return !(against(now, w, level, first) >= level);
  }
  [[nodiscard]] Index best_scale(const Situation&, const Witness&, Index scale) const { return scale; }
  [[nodiscard]] std::vector<SpreadBounds> bounds(const Situation& now, double level, Index first, const Witness& at) const;
  void sampled(const Situation&, Index) const {}
  void forget() const {}

 private:
  [[nodiscard]] double shared_variance(const Samples& samples, const Witness& w) const;
  [[nodiscard]] double own_variances(const Samples& samples, const Witness& w, double level) const;

  const Model* model_;
  double paid_;
};

}  // namespace linkarms
