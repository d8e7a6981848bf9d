// The evidence against one pair of arms under a distance threshold (section 7.1 of math.md): that arms a, b of two
// clusters are at most r - eps apart, or arms u, v of one cluster at least r + eps.
//
//   E = inf of l_first(lambda_first) + l_second(lambda_second) over all lambda that satisfy this
//
// For Gaussian arms of known variance the average over the grid (7.4), else the maximum over it. A kind of
// evidence is a copyable class with
//   averages_grid                       as in evidence/pairs.hpp
//   against(now, w, level, first)       E, or any value of at least `level` that it is sure to reach
//   is_below(now, w, level, first)      whether E < level
//   is_clear(now, w, level, first)      a quick look: true only where E >= level
//   best_scale(now, w, scale)           the c with the most evidence; `scale` where there is no choice
//   sampled(now, m), forget()           as in evidence/pairs.hpp
// `w` is a merge or a split; what a kind keeps is a cache.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "evidence/averaged.hpp"
#include "evidence/scalar_arms.hpp"
#include "family/variance_mixture.hpp"
#include "pair/two_arms.hpp"

namespace linkarms {

/// Gaussian arms with one variance each: gap^2 / (2 (i_a + i_b)) less the prices, averaged over the grid.
class IsotropicThreshold {
 public:
  static constexpr bool averages_grid = true;
  IsotropicThreshold(const Model& model, const Task& task, std::vector<double> grid, double discount)
      : limits_(task), tables_(model, std::move(grid), discount) {}

  [[nodiscard]] double against(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] bool is_clear(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] Index best_scale(const Situation& now, const Witness& w, Index scale);
  void sampled(const Situation&, Index) {}
  void forget() { tables_.forget(); }

 private:
  [[nodiscard]] PairLengths collect(const Situation& now, const Witness& w);
  /// At the j-th c alone, from tables that are up to date.
  [[nodiscard]] double at_scale(const Situation& now, const Witness& w, Index j) const;

  Limits limits_;
  ScaleTables tables_;
  std::vector<GridTerms> terms_;
};

/// Gaussian arms with full covariances, and vectors of other families: the pair problem, averaged over the grid.
class SolvedThreshold {
 public:
  static constexpr bool averages_grid = true;
  SolvedThreshold(const Model& model, const Task& task, std::vector<double> grid, double discount)
      : model_(&model), problem_(model, task), tables_(model, std::move(grid), discount), weight_(model.n_arms()) {}

  [[nodiscard]] double against(const Situation& now, const Witness& w, double level, Index) {
    return average(now, w, level, -inf);
  }
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level, Index) {
    return !(average(now, w, level, level) >= level);
  }
  [[nodiscard]] static bool is_clear(const Situation&, const Witness&, double, Index) { return false; }
  [[nodiscard]] Index best_scale(const Situation& now, const Witness& w, Index scale);
  /// The price of a fixed prior asks a user's functions.
  void sampled(const Situation& now, Index m) { tables_.refresh(now.samples, m); }
  void forget() { tables_.forget(); }

 private:
  /// A lower bound of the evidence; see `average_over_grid`.
  [[nodiscard]] double average(const Situation& now, const Witness& w, double enough, double too_little);
  void collect(const Situation& now, const Witness& w);
  [[nodiscard]] PairShifts solve(const Situation& now, const Witness& w, const std::array<double, 4>& weight);

  const Model* model_;
  GeneralTwoArms problem_;
  ScaleTables tables_;
  std::vector<GridTerms> terms_;
  std::vector<double> weight_;  ///< scratch memory of `solve`
};

/// Arms with one parameter each: a linear constraint per sign of the difference.
class ScalarThreshold {
 public:
  static constexpr bool averages_grid = false;
  ScalarThreshold(const Model& model, const Task& task, std::vector<double> grid, double discount)
      : limits_(task), n_scales_(static_cast<Index>(grid.size())), arms_(model, std::move(grid), discount) {}

  [[nodiscard]] double against(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] static bool is_clear(const Situation&, const Witness&, double, Index) { return false; }
  [[nodiscard]] Index best_scale(const Situation& now, const Witness& w, Index scale);
  void sampled(const Situation& now, Index m) { arms_.sampled(now.samples, m); }
  void forget() {
    arms_.forget();
    points_.clear();
    next_ = 0;
  }

 private:
  /// The evidence at one c, and where it is found.
  struct Found {
    double value, first, second;
  };
  /// Where the arms of a pair went that was below the level: it bounds the infimum for every c from above, whatever was
  /// sampled since. It only saves work.
  struct Point {
    Witness witness;
    std::array<double, 2> at{};
    std::array<long long, 2> count{-1, -1};  ///< samples of each arm when its terms were computed
    std::vector<double> terms;               ///< (2, J): the evidence of each arm there
  };
  enum class Search { whole, convex };  ///< everywhere, or only where all costs are convex: an upper bound

  [[nodiscard]] Found at_scale(const Samples& samples, const Witness& w, double level, Index j, Search search = Search::whole);
  /// At a point that the constraint allows.
  [[nodiscard]] double at_point(const Samples& samples, const Witness& w, const Found& point, Index j);
  [[nodiscard]] Point* find_point(const Witness& w);
  Point& new_point(const Witness& w);
  /// The c, of those not solved, with the most evidence at the point (NaN is more than any number); and how much.
  [[nodiscard]] std::pair<Index, double> most_at(const Samples& samples, Point& point, const std::vector<char>& solved);

  Limits limits_;
  Index n_scales_;
  ScalarArms arms_;
  std::vector<Point> points_;
  std::size_t next_ = 0;  ///< the point that is replaced next
};

/// Gaussian arms of unknown variance, one each or one for both (section 6): arms move by distances that add up to
/// the gap.
class VarianceThreshold {
 public:
  static constexpr bool averages_grid = false;
  VarianceThreshold(const Model& model, const Task& task, std::vector<double> grid, double discount)
      : model_(&model), limits_(task), grid_(std::move(grid)), discount_(discount) {}

  [[nodiscard]] double against(const Situation& now, const Witness& w, double level, Index first) const;
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] static bool is_clear(const Situation&, const Witness&, double, Index) { return false; }
  [[nodiscard]] Index best_scale(const Situation& now, const Witness& w, Index scale) const;
  void sampled(const Situation&, Index) const {}
  void forget() const {}

 private:
  [[nodiscard]] double at_scale(const Situation& now, const Witness& w, double level, double c) const;
  /// Where `share` is given: an upper bound for less work, and the first arm's share of the way.
  [[nodiscard]] double own_variances(const Situation& now, const Witness& w, double gap, double level, double c,
                                     double* share = nullptr) const;
  /// With each arm's own variance, for every c: whether the evidence is below the level where the first arm goes this
  /// share of the way.
  [[nodiscard]] bool is_below_at(const Situation& now, const Witness& w, double gap, double share, double level) const;
  [[nodiscard]] double shared_variance(const Situation& now, const Witness& w, double gap, double c) const;

  const Model* model_;
  Limits limits_;
  std::vector<double> grid_;
  double discount_;
  Witness kept_for_;  ///< the pair that was last below the level, and its share: they only save work
  double kept_share_ = 0.5;
};

}  // namespace linkarms
