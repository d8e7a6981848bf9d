// The infimum of the evidence of arms of unknown variance, by the direction in which a pair comes apart.
//
// Let w = lambda_u - lambda_v and s = lambda_a - lambda_b. If |w| >= |s|, then for any cover of the unit sphere by cells of
// directions within h of some e, and any f of the unit ball, some e has
//   e . w >= cos(h) |w| >= cos(h) f . s .
// That is linear in lambda. An arm that has the coefficient c_m in it, and whose form is t_m = x_m^2, adds at most
// reach_m x_m, reach_m^2 = c_m' Sigma_m c_m with Sigma_m the covariance of its form; one with a form per coordinate adds
// sum_k reach_mk x_mk, reach_mk = |c_mk| sigma_mk. So the forms have to
//   sum_m reach_m x_m >= gap = cos(h) f . q - e . p ,   p and q those of the means.
// On a line there are two e, and h = 0. Else cells are halved where they prove too little: what one loses is of the order h^2.
// Each box of the search has an f of its own. With chords for the rises |s| <= e . w is a convex constraint, so that the best f
// loses nothing: it is the direction of s or, where s is 0, some f inside the ball.
//
// Arms of one variance each need fewer dimensions. Four only have to bring the lengths together: that is a line with |p| and |q|.
// Three, one of them shared, stay in the plane of p and q: for given lengths of the moves the others go along w and s, and of the
// shared arm's move D only D . p and D . q count. For a given D . q the largest D . p is best, and then D is in that plane.
//
// With a form per coordinate an arm can be reflected in one coordinate alone, and w may be taken to have the sign of p there:
// - Four arms: u and v come apart in each coordinate on the sides where they are; to change sides is farther.
// - Three, with u = a: where w and p have different signs, some reflection of arms makes |w_k| no smaller and |s_k| no larger and
//   moves no arm farther, unless q has the sign of p and is longer: there u may pass v on its way to b, and both signs count.
//
// What is least under such a constraint is found by evidence/reach_search.hpp.
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "evidence/variance_average.hpp"
#include "evidence/variance_forms.hpp"

namespace linkarms {

class VarianceSectors {
 public:
  VarianceSectors() = default;
  VarianceSectors(const VarianceSectors&) = delete;
  VarianceSectors& operator=(const VarianceSectors&) = delete;
  virtual ~VarianceSectors() = default;

  /// Looks at a lambda that the constraint allows (rows u, v, b, a), and returns log E there.
  using Look = std::function<double(const Matrix& lam)>;
  /// The infimum of log E from below, within `precision` of it where that does not take too long. Ends early at a bound of at
  /// least `enough`, or where `look` found less than `too_little`: then what is returned is sure to be at least, or below, that.
  /// So neither changes whether a level is reached.
  [[nodiscard]] virtual double infimum(double enough, double too_little, const Look& look) = 0;
  /// How many boxes were looked at.
  [[nodiscard]] virtual long long boxes() const = 0;
};

/// Nothing in more than five dimensions, unless each arm has one variance. The samples must outlive it.
[[nodiscard]] std::unique_ptr<VarianceSectors> make_variance_sectors(const Samples& samples, const Witness& w,
                                                                     const std::array<const ArmShape*, 4>& shapes,
                                                                     const VarianceAverage& average);

}  // namespace linkarms
