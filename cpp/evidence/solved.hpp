// Evidence of arms whose pair problem is solved for each c: Gaussian arms with full covariances, and vectors
// of any family.
#pragma once

#include <memory>

#include "evidence/pairs.hpp"
#include "pair/problem.hpp"

namespace linkarms {

class SolvedEvidence {
 public:
  static constexpr EvidenceUnit unit = EvidenceUnit::set;
  static constexpr bool averages_grid = false;

  SolvedEvidence(const Model& model, std::vector<double> grid, double discount, double tolerance = 0.0);
  SolvedEvidence(const SolvedEvidence& other);

  [[nodiscard]] double against(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level, Index first) {
    return !(against(now, w, level, first) >= level);
  }
  [[nodiscard]] Index best_scale(const Situation& now, const Witness& w, Index scale);
  [[nodiscard]] std::vector<SpreadBounds> bounds(const Situation& now, double level, Index first, const Witness& at);
  /// The price of a fixed prior asks a user's functions.
  void sampled(const Situation& now, Index m) { tables_.refresh(now.samples, m); }
  void forget() { tables_.forget(); }

 private:
  [[nodiscard]] double at_scale(const Situation& now, const Witness& w, double level, Index j);

  const Model* model_;
  double tolerance_;
  std::unique_ptr<PairProblem> problem_;
  ScaleTables tables_;
};

/// The largest of the levels that the arms of a pair of pairs can spend between them: the level and the largest prices, four
/// or so many, at least 0.
[[nodiscard]] double largest_share(double level, View price, std::size_t most = 4);

}  // namespace linkarms
