// Evidence of Gaussian arms averaged over the grid of c (section 7.4 of math.md): version 2 of the rule.
//
//   E(u,v; a,b) = inf over lambda of  log (1/J) sum_j exp(sum_m l_{m,j}(lambda_m))
//
// By Gibbs, for any distribution g on the grid,
//   log (1/J) sum_j exp(l_j) >= sum_j g_j l_j - sum_j g_j log(J g_j),
// and the infimum of the right side over a piece is the pair cost of 2.1 at the weights sum_j g_j N^2/(N + c_j),
// less the prices sum_j g_j price_j. So any g gives a safe bound. The best one is the distribution that the left
// side has at the minimiser: there both are equal.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "evidence/pairs.hpp"
#include "psi/costs.hpp"

namespace linkarms {

/// The lengths of a pair of pairs: |x_u - x_v|, |x_a - x_b|, and |x_v - x_b| where u = a is shared.
/// With a tolerance the intra pair has to be longer than the inter pair by that; `line`: the arms have one coordinate.
struct PairLengths {
  double intra, inter, third = 0.0;
  bool shared = false;
  double tolerance = 0.0;
  bool line = false;
};

/// Each arm's squared shift at the minimum of sum_m |lambda_m - x_m|^2 / (2 i_m), and the minimum; arms in
/// the order u, v, b, a. The shift of a shared a is 0: it is that of u.
struct PairShifts {
  double cost = 0.0;
  std::array<double, 4> square{};
};
[[nodiscard]] PairShifts pair_shifts(const PairLengths& lengths, const std::array<double, 4>& spread);

/// What the arms of a pair of pairs have at one c: N^2/(v (N + c)) of u, v, b, a (covariances: without v), and the sum of
/// the prices.
struct GridTerms {
  std::array<double, 4> weight{};  ///< that of a is 0 where it is shared
  double price = 0.0;
};

/// Lower and upper bounds of the infimum; `share` is the distribution g of the lower one.
struct GridAverage {
  double lower, upper;
  std::vector<double> share;
};
/// Ends as soon as the lower bound is at least `enough`, the upper one is below `too_little`, or they are within
/// 1e-6. The lower bound never falls while it goes on.
[[nodiscard]] GridAverage average_over_grid(const PairLengths& lengths, std::span<const GridTerms> grid, double enough,
                                            double too_little);
/// The same for any pair problem: `solve` takes weights of u, v, b, a. Squares are in units of the arms' covariances.
using PairSolver = std::function<PairShifts(const std::array<double, 4>&)>;
[[nodiscard]] GridAverage average_over_grid(const PairSolver& solve, std::span<const GridTerms> grid, double enough,
                                            double too_little);

class AveragedEvidence {
 public:
  static constexpr EvidenceUnit unit = EvidenceUnit::set;
  static constexpr bool averages_grid = true;
  /// Edges for one statistic, 2 to 10 us each.
  static constexpr long long most_work = 10000;

  /// With a tolerance the distances between clusters of every situation are stretched by it.
  AveragedEvidence(const Model& model, std::vector<double> grid, double discount, double tolerance = 0.0);

  [[nodiscard]] double against(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level, Index first);
  /// The c with the most evidence by itself.
  [[nodiscard]] Index best_scale(const Situation& now, const Witness& w, Index scale);
  /// For the g that is best where it matters, and for the c by which arms are chosen alone.
  [[nodiscard]] std::vector<SpreadBounds> bounds(const Situation& now, double level, Index first, const Witness& at);

  void sampled(const Situation&, Index) {}
  void forget() { tables_.forget(); }

 private:
  /// Bounds of the evidence against a pair of pairs.
  [[nodiscard]] GridAverage average(const Situation& now, const Witness& w, double enough, double too_little);
  /// The terms of a pair of pairs, into `terms_`.
  void collect(const Situation& now, const Witness& w);
  [[nodiscard]] PairLengths lengths(const Situation& now, const Witness& w) const;
  /// The pair problem of arms with covariances at weights of u, v, b, a.
  [[nodiscard]] PairShifts solve(const Situation& now, const Witness& w, const std::array<double, 4>& weight);

  const Model* model_;
  ScaleTables tables_;
  double tolerance_;
  bool line_;
  std::vector<GridTerms> terms_;
  std::optional<psi::GeneralPairs> problem_;  ///< where arms have full covariances
  std::vector<double> weight_, spread_;       ///< scratch memory of `solve`
};

}  // namespace linkarms
