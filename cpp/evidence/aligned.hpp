// Aligned evidence of Gaussian arms with one variance each (section 10 of math.md): version 2 of the rule.
//
//   E(u,v; a,b) = the lower bound that the search of evidence/aligned_search.hpp proves for  inf log E(lambda)  over
//   all lambda with |lambda_u - lambda_v| >= |lambda_a - lambda_b|
//
// Any lambda of the piece bounds the infimum from above. One that was near the minimiser a while ago goes on doing so:
// most questions whether the evidence is below a level need its value alone, and for that only the terms of the arm
// that was sampled are computed again. Where the value was far below the level not even these are: E(lambda) is an average of
// likelihood ratios of Gaussian means against lambda, so k new samples of an arm, of mean y, multiply it by no more than
// their largest likelihood ratio,
//   log E(lambda) rises by at most  sum over the arms of  k |y - lambda_m|^2 / (2 v_m) .
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "evidence/aligned_search.hpp"
#include "evidence/pairs.hpp"

namespace linkarms {

class AlignedEvidence {
 public:
  static constexpr EvidenceUnit unit = EvidenceUnit::piece;
  static constexpr bool averages_grid = true;
  /// Boxes of the search for one statistic, about 3 us each.
  static constexpr long long most_work = 60000;

  AlignedEvidence(const Model& model, std::vector<double> grid, double discount);

  [[nodiscard]] double against(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level, Index first);
  /// Whether it is below `level` by a lambda that is known, or by the best one with its directions: no search.
  [[nodiscard]] bool is_known_below(const Situation& now, const Witness& w, double level, Index first);
  /// What it is known to be at most, by the last such question that was answered with no; infinite where it was proved.
  [[nodiscard]] double last_known() const { return last_known_; }
  /// The c whose aligned component has the most evidence at psi's alternative.
  [[nodiscard]] Index best_scale(const Situation& now, const Witness& w, Index scale);
  /// From the isotropic components alone.
  [[nodiscard]] std::vector<SpreadBounds> bounds(const Situation& now, double level, Index first, const Witness& at);

  void sampled(const Situation&, Index) {}
  void forget();
  /// Boxes that `against` has looked at so far.
  [[nodiscard]] long long work() const { return work_; }

 private:
  /// An arm's coefficients in one of its places, after `count` samples.
  struct Entry {
    long long count = 0;
    std::optional<AlignedArm> arm;
  };
  /// What is known of a piece: a lambda, and what was found when its arms had these counts and means.
  struct Known {
    std::array<long long, 4> count{};
    Matrix means;
    double value = inf;     ///< log E at the lambda; infinite: there is none
    double lower = -inf;    ///< what the infimum is proved to be at least
    bool searched = false;  ///< whether a better lambda was looked for
    Directions at{};        ///< of the lambda
    AlignedPoint point;
  };

  [[nodiscard]] static std::array<long long, 4> counts(const Samples& samples, const Witness& w);
  [[nodiscard]] const AlignedArm& arm(const Samples& samples, Index m, Place place);
  [[nodiscard]] AlignedPiece piece(const Samples& samples, const Witness& w);
  [[nodiscard]] Known* find(const Witness& w);
  /// At least log E at the kept lambda, by its value when it was last computed and the samples since.
  [[nodiscard]] double most_at(const Samples& samples, const Witness& w, const Known& known) const;
  /// What is known at the present counts. Begins with the directions of the means where there is no lambda.
  Known& bring_up_to_date(const Situation& now, const AlignedPiece& piece, const Witness& w, double level);
  /// Keep what was found at the counts of `known`: a proof, and a lambda if it has less evidence than the one before.
  static void keep_better(const AlignedPiece& piece, Known& known, Bracket found);
  /// Rows of `lam` in the order of `Role`, b moved towards a until the piece has them.
  [[nodiscard]] static Matrix inside(const Matrix& lam, const Witness& w);

  const Model* model_;
  AlignedRule rule_;
  std::array<std::vector<Entry>, 2> arms_;          ///< by Place
  std::unordered_map<std::uint64_t, Known> known_;  ///< by the arms
  double last_known_ = 0.0;
  long long work_ = 0;
};

}  // namespace linkarms
