// Evidence of arms with one parameter each: Gaussian, with a centred mixture, or a user's own with a fixed
// prior.
//
// Any lambda that the constraint allows bounds the infimum from above, for every c. One that was the
// minimiser a while ago goes on doing so: most questions whether the evidence is below a level need no
// search.
#pragma once

#include <array>
#include <vector>

#include "evidence/pairs.hpp"
#include "evidence/scalar_arms.hpp"

namespace linkarms {

/// Where u, v, b, a of a witness are in a lambda that its constraint allows (a shared a is where u is).
using FourNumbers = std::array<double, 4>;

class ScalarEvidence {
 public:
  static constexpr EvidenceUnit unit = EvidenceUnit::set;
  static constexpr bool averages_grid = false;

  ScalarEvidence(const Model& model, std::vector<double> grid, double discount, double tolerance = 0.0);

  [[nodiscard]] double against(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] Index best_scale(const Situation& now, const Witness& w, Index scale);
  [[nodiscard]] std::vector<SpreadBounds> bounds(const Situation& now, double level, Index first, const Witness& at);
  /// The price of a fixed prior asks a user's functions; mixtures wait until they are read.
  void sampled(const Situation& now, Index m);
  void forget();

 private:
  /// A lambda that the constraint of `witness` allows, and the evidence of each arm there for each c.
  struct Point {
    Witness witness;
    FourNumbers at{};
    std::array<long long, 4> count{};  ///< samples of each arm when its terms were computed
    std::vector<double> terms;         ///< (4, J)
    double cleared = -inf;             ///< the evidence was at least this with `cleared_with` samples of each arm
    std::array<long long, 4> cleared_with{};
  };
  struct Found {
    double value;  ///< without the prices
    FourNumbers at;
  };
  enum class Search { whole, convex };  ///< everywhere, or only where all costs are convex: an upper bound

  [[nodiscard]] double price(const Samples& samples, Index j, const Witness& w);
  [[nodiscard]] Found minimise(const Samples& samples, Index j, const Witness& w, double level, Search search);
  [[nodiscard]] double reach(const Samples& samples, Index j, Index m, double level);

  [[nodiscard]] Point* find_point(const Witness& w);
  Point& new_point(const Witness& w);
  void move_point(Point& point, const FourNumbers& at) const;
  [[nodiscard]] std::array<long long, 4> counts_of(const Samples& samples, const Witness& w) const;
  void refresh_point(const Samples& samples, Point& point);
  /// The c, of those not solved, with the most evidence at the point (NaN is more than any number); and how
  /// much.
  [[nodiscard]] std::pair<Index, double> most_at(const Point& point, const std::vector<char>& solved) const;

  const Model* model_;
  std::vector<double> grid_;
  double tolerance_;  ///< by which the intra pair has to be the longer one
  ScalarArms arms_;
  std::vector<Point> points_;
  std::size_t next_ = 0;  ///< the point that is replaced next
};

}  // namespace linkarms
