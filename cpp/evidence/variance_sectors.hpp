// The infimum of the evidence of arms of unknown variance, by the direction in which a pair comes apart.
//
// Let w = lambda_u - lambda_v and s = lambda_a - lambda_b. If |w| >= |s|, then for any cover of the unit sphere by caps of
// half-width h around directions e, and any f of the unit ball, some e has
//   e . w >= cos(h) |w| >= cos(h) f . s .
// That is linear in lambda. An arm that has the coefficient c_m in it, and whose form is t_m = x_m^2, adds at most
// reach_m x_m, reach_m^2 = c_m' Sigma_m c_m with Sigma_m the covariance of its form. So the arms have to
//   sum_m reach_m x_m >= gap = cos(h) f . q - e . p ,   p and q those of the means.
// On a line there are two e, and h = 0. In the plane caps are arcs, halved where they prove too little: what an arc loses is of
// the order h^2. Each box of the search has an f of its own. With chords for the rises |s| <= e . w is a convex constraint, so
// that the best f loses nothing: it is the direction of s or, where s is 0, some f inside the ball. Four arms of one variance
// each only have to bring the lengths together, in any dimension: that is a line with |p| and |q|.
//
// What is least under such a constraint is found by evidence/reach_search.hpp.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "evidence/reach_search.hpp"
#include "evidence/variance_average.hpp"
#include "evidence/variance_forms.hpp"

namespace linkarms {

class VarianceSectors {
 public:
  /// Whether there is such a cover: on a line, in the plane with one form per arm, and for four arms of one variance each.
  [[nodiscard]] static bool serves(const Model& model, const Witness& w);
  /// The samples must outlive it.
  VarianceSectors(const Samples& samples, const Witness& w, const std::array<const ArmShape*, 4>& shapes,
                  VarianceAverage average);

  /// Looks at a lambda that the constraint allows (rows u, v, b, a), and returns log E there.
  using Look = std::function<double(const Matrix& lam)>;
  /// The infimum of log E from below, within `precision` of it where that does not take too long. Ends early at a bound of at
  /// least `enough`, or where `look` found less than `too_little`: then what is returned is sure to be at least, or below, that.
  /// So neither changes whether a level is reached.
  [[nodiscard]] double infimum(double enough, double too_little, const Look& look);
  /// How many boxes were looked at.
  [[nodiscard]] long long boxes() const { return search_.boxes(); }

 private:
  using Direction = std::array<double, 2>;
  /// A quadratic form: its diagonal, and beside it. The covariance of an arm's form; a line has one coordinate.
  struct Form {
    Direction units{};
    double cross = 0.0;
    [[nodiscard]] Direction times(const Direction& x) const {
      return {units[0] * x[0] + cross * x[1], cross * x[0] + units[1] * x[1]};
    }
    void add(double factor, const Form& other) {
      for (std::size_t k = 0; k < 2; ++k) units[k] += factor * other.units[k];
      cross += factor * other.cross;
    }
  };
  /// Where form(f, f) / 2 - pull . f is least in the unit disc.
  [[nodiscard]] static Direction least_in_disc(const Form& form, const Direction& pull);
  /// Directions within `half` of e, the direction f that goes with them, and the coefficients of the arms.
  struct Sector {
    Direction e;
    double half;
    Direction f;
    std::array<Direction, 4> coefficient{};
  };
  using Search = ReachSearch<VarianceAverage, Sector>;
  using Box = Search::Box;

  [[nodiscard]] std::vector<Sector> cover() const;
  /// The constraint of a sector.
  void enter(Box& box) const;
  /// Bring f to where the bound is best for the chords at x; false if that gains little, or if there would be no gap.
  [[nodiscard]] bool turn(Box& box, const std::array<double, 4>& x) const;
  /// A sector as one box.
  [[nodiscard]] Box whole(const Sector& sector);
  /// The halves of an arc if it loses more than its box, or more than a little where it matters.
  [[nodiscard]] std::vector<Box> halves(const Box& box, double least);
  /// How far the arms go if their forms are x^2.
  [[nodiscard]] std::array<Direction, 4> moves(const Box& box, const std::array<double, 4>& x) const;
  /// log E at a lambda near the box's lowest place, by `look`; infinite if there is none near.
  [[nodiscard]] double look_near(const Box& box, const Look& look) const;

  std::size_t count_;
  std::array<Form, 4> place_;
  Matrix theta_;                            ///< rows u, v, b, a
  std::array<std::vector<double>, 2> way_;  ///< on a line: the directions of p and q
  Direction p_{}, q_{};
  bool line_;  ///< only lengths count, or there is one dimension
  Search search_;
};

}  // namespace linkarms
