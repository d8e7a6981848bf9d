// The infimum of a one-sided mixture over arms under one linear constraint, bounded from below.
//
//   log E(lambda) = log sum_j exp(log_mass + sum_m l_mj(lambda_m)),    sum_m kappa_m lambda_m >= 0
//
// with l_mj of evidence/one_sided_arm.hpp, arm m's alternatives being on the side that kappa_m does not push it to. Every
// l_mj is convex, so log E is, too: Newton's method finds the minimum. The proof does not depend on how well: for any
// shares g_j and any mu >= 0, by Gibbs (7.4 of math.md) and weak duality,
//   inf log E >= sum_j g_j (log_mass - log g_j) + sum_m min over lam of [ sum_j g_j l_mj(lam) - mu kappa_m lam ],
// and each minimum of a convex function of one number lies above the crossing of two of its tangents.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "evidence/one_sided_arm.hpp"

namespace linkarms {

/// One arm under the constraint; kappa is not 0.
struct PushedArm {
  const ShiftedArm* arm;
  double kappa;

  /// An arm that the constraint pushes up has its alternatives below.
  [[nodiscard]] ShiftedArm::Side side() const { return kappa > 0.0 ? ShiftedArm::Side::below : ShiftedArm::Side::above; }
};

struct OneSidedInfimum {
  double lower = -inf, upper = inf;  ///< upper: log E at lambda
  std::array<double, 4> lambda{};
};

/// Finds infima; what it holds is room to work in.
class OneSidedSearch {
 public:
  /// Ends without a lower bound as soon as a lambda with log E below `too_little` is found. At most four arms.
  [[nodiscard]] OneSidedInfimum infimum(const ShiftPrior& prior, std::span<const PushedArm> arms, double log_mass,
                                        double too_little);

 private:
  using Four = std::array<double, 4>;
  /// log E and its derivatives at a place.
  struct Point {
    Four at{}, gradient{};
    std::array<Four, 4> curvature{};
    double value = inf;
  };
  struct Step {
    Four by{};
    double mu = 0.0, gain = 0.0;
  };

  [[nodiscard]] Four start() const;
  void evaluate(Point& point);
  [[nodiscard]] Step newton_step(const Point& point, const std::array<bool, 4>& free) const;
  [[nodiscard]] bool is_held(const Point& point, std::size_t m, double mu) const;
  /// A lower bound of the smallest value of one arm's term of the dual, and where that is.
  struct Lowest {
    double value, at;
  };
  [[nodiscard]] Lowest lowest_of(std::size_t m, double slope, double from);
  /// Lemma 11 for the shares of the place that was evaluated last: the bound, where its arms are, and sum kappa lambda there.
  struct Dual {
    double mu, value = 0.0, residual = 0.0;
    Four at{};
  };
  [[nodiscard]] Dual dual(const Four& from, double mu);
  /// The bound at the best multiplier, within 1e-3.
  [[nodiscard]] Dual raise(Dual low);

  const ShiftPrior* prior_ = nullptr;  ///< of this question, as are the arms
  std::span<const PushedArm> arms_;
  double log_mass_ = 0.0;
  std::array<ShiftTerms, 4> terms_;
  ShiftTerms one_;
  std::vector<double> share_;  ///< of each component at the place that was evaluated last
};

}  // namespace linkarms
