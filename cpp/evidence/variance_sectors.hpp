// Proofs for the evidence of arms of unknown variance, by the direction in which a pair comes apart.
//
// Let w = lambda_u - lambda_v and s = lambda_a - lambda_b. If |w| >= |s|, then for any cover of the unit sphere by caps of
// half-width h around directions e, and any unit vectors f, some e has
//   e . w >= cos(h) |w| >= cos(h) f . s .
// That is linear in lambda. An arm that has the coefficient c_m in it, and whose form is t_m = x_m^2, adds at most
// reach_m x_m, reach_m^2 = c_m' Sigma_m c_m with Sigma_m the covariance of its form. So the arms have to
//   sum_m reach_m x_m >= cos(h) f . q - e . p ,   p and q those of the means,
// and under that the least sum of weights times x_m^2 has a closed form: boxes of pair/concave.hpp take little time, and
// forms that can be reached together are a convex set. f is the direction of s where the minimum is. On a line there are two e,
// and h = 0. In the plane caps are arcs, halved where they prove too little: what an arc loses is of the order h^2. Four
// arms of one variance each only have to bring the lengths together, in any dimension: that is a line with |p| and |q|.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "evidence/variance_forms.hpp"
#include "pair/concave.hpp"

namespace linkarms {

class VarianceSectors {
 public:
  /// Whether there is such a cover: on a line, in the plane with one form per arm, and for four arms of one variance each.
  [[nodiscard]] static bool serves(const Model& model, const Witness& w);
  /// The samples and the shapes must outlive it.
  VarianceSectors(const Samples& samples, const Witness& w, const std::array<const ArmShape*, 4>& shapes);

  /// Looks at a lambda that the constraint allows (rows u, v, b, a); true if it shows that there is no proof.
  using Look = std::function<bool(const Matrix& lam)>;
  /// As `is_reached` of pair/concave.hpp, for the same forms in the same order.
  [[nodiscard]] bool is_reached(std::span<const double> caps, std::span<const double> start, const ProposeGoal& propose,
                                const Look& look, double patience);
  /// How many problems were solved.
  [[nodiscard]] long long solved() const { return forms_.solved(); }

 private:
  using Direction = std::array<double, 2>;
  /// The covariance of an arm's form: its diagonal, and beside it. A line has one coordinate.
  struct Place {
    Direction units{};
    double cross = 0.0;
  };
  /// Directions within `half` of e, and the direction f that goes with them.
  struct Sector {
    Direction e;
    double half;
    Direction f;
  };
  /// Minimise sum_k weight_k t_k subject to sum_k reach_k sqrt(t_k) >= gap: gap^2 / sum_k (reach_k^2 / weight_k).
  class ReachForms final : public QuadraticForms {
   public:
    std::vector<double> reach;
    double gap = 0.0;
    std::vector<double> last;  ///< t of the last solution

   private:
    double solve_at(std::span<const double> weight, std::span<double> t) override;
  };

  /// What the arms have to reach in a sector; `forms_` becomes that.
  void enter(const Sector& sector);
  /// How far the arms go in the sector that was entered, if their forms are t.
  [[nodiscard]] std::array<Direction, 4> moves(std::span<const double> t) const;
  /// Look at a lambda near those forms.
  [[nodiscard]] bool is_low(std::span<const double> t, const Look& look) const;

  std::size_t count_;
  std::array<Place, 4> place_;
  Matrix theta_;  ///< rows u, v, b, a; none where a line stands for more dimensions
  Direction p_{}, q_{};
  bool line_;  ///< only lengths count, or there is one dimension
  std::array<Direction, 4> coefficient_{};
  ReachForms forms_;
};

}  // namespace linkarms
