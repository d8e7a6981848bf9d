// Evidence of Gaussian arms of unknown variance, centred at the tested mean and variance (section 6 of
// math.md).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

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
      : model_(&model), grid_(std::move(grid)), discount_(discount) {
    forget();
  }

  [[nodiscard]] double against(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] Index best_scale(const Situation& now, const Witness& w, Index scale);
  [[nodiscard]] std::vector<SpreadBounds> bounds(const Situation& now, double level, Index first, const Witness& at);
  void sampled(const Situation&, Index) const {}
  void forget();
  /// Pieces that `against` was asked for so far.
  [[nodiscard]] long long work() const { return work_; }

 private:
  /// What the samples of one arm say, after `count` of them, for each c; prices come divided by the discount.
  struct Entry {
    long long count = -1;
    std::vector<VarianceMixture> mixture;
    std::vector<double> price;
  };
  /// Where the arms u, v, b, a of a witness went, as distances, and by which of the two ways of `ways`.
  struct Point {
    std::size_t way = 0;
    std::array<double, 4> distance{};
  };
  /// What is kept of a witness: a point for each c, and what was found when its arms had these counts, with the c to begin with.
  /// It only saves work.
  struct Known {
    Witness witness;
    std::vector<Point> points;
    std::array<long long, 4> count{};
    Index first = -1;
    double reached = -inf;  ///< a level that the evidence was found to be at least
    double missed = inf;    ///< and one that it was found below
  };
  [[nodiscard]] const Entry& entry(const Samples& samples, Index m);
  [[nodiscard]] Known& known(const Samples& samples, const Witness& w, Index first);
  /// The evidence for the j-th c, or any value of at least `level` that it is sure to reach. `quick`: an upper bound, from the
  /// part where all rises are convex, for far less work. `went`: where the arms are there.
  enum class Search { all, quick };
  [[nodiscard]] double at_scale(const Situation& now, const Witness& w, double level, std::size_t j, Search search, Point& went);
  [[nodiscard]] double upper_bound(const Situation& now, const Witness& w, std::size_t j, Point& went) {
    return at_scale(now, w, inf, j, Search::quick, went);
  }
  /// Whether the evidence for the j-th c is below `level` at a kept point, moved as far as the constraint asks.
  [[nodiscard]] bool point_is_below(const Situation& now, const Witness& w, const Point& kept, std::size_t j, double level);

  const Model* model_;
  std::vector<double> grid_;
  double discount_;
  long long work_ = 0;
  std::vector<Entry> entries_;
  std::unordered_map<std::uint64_t, Known> known_;  ///< by the arms
};

}  // namespace linkarms
