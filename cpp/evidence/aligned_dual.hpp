// The infimum of log E over a piece for fixed directions of its two pairs, bounded from below by Lagrange multipliers.
//
// Let e and f be the unit vectors of lambda_a - lambda_b = R e and lambda_u - lambda_v = r f, r >= R >= 0; p = x_u - x_v and
// q = x_a - x_b. With a blend (evidence/aligned_blend.hpp), k_m(t) = min_y [psi_m(y) - t y], and multipliers mu >= 0 of r >= R
// and nu = mu - delta <= mu along e, the infimum is at least
//
// four arms:
//   k_u(mu) + k_v(mu) + k_a(nu) + k_b(nu) + nu q.e - mu p.f + |q - (q.e) e|^2 / (2 (1/A_a + 1/A_b)) + constant
//
// shared u = a: let gamma be the angle between e and f, s = sin(gamma/2), c = cos(gamma/2), and g the unit vector of the part of
// f perpendicular to e. With a multiplier eta along g, and outside of the plane of e and f the best one, which has a closed form:
//   k_u((mu + nu) s - eta c) - (eta s - delta c)^2/(2 A_u) + k_v(mu) + k_b(nu) - eta^2/(2 A_b)
//     + nu q.e + eta q.g - mu p.f + |q outside|^2 / (2 (1/A_u + 1/A_b)) + constant
// (n_u = (e - f)/|e - f|: e - f has the length 2 s; g has the part -c along n_u and s along e + f.)
//
// The best multipliers give the infimum of the blend.
#pragma once

#include <array>
#include <functional>

#include "evidence/aligned_blend.hpp"

namespace linkarms {

/// The directions of the two pairs, as the Lagrangian sees them.
struct Frame {
  double sine = 0.0, cosine = 1.0;  ///< of gamma/2; a shared arm only
  double inter = 0.0;               ///< q.e
  double side = 0.0;                ///< q.g
  double outside = 0.0;             ///< |q outside|^2, or |q - (q.e) e|^2 for four arms
  double intra = 0.0;               ///< p.f
};

struct Multipliers {
  double mu = 1.0, delta = 0.0, eta = 0.0;
  [[nodiscard]] double nu() const { return mu - delta; }
};

/// A blend and multipliers for the directions that were last solved. Begins a search from what it found
/// before.
class AlignedDual {
 public:
  /// Begins with the shares that E has where the arms are shifted by `w`, and with the multiplier mu.
  AlignedDual(const AlignedPiece& piece, const std::array<Shift, 4>& w, double mu);

  /// Find a blend and multipliers for these directions, and the lower bound that they give: within `gap` of
  /// the best, or so much above `level` that it is not worth more work; or any for which `enough` says that it will do.
  double solve(const Frame& frame, double level, double gap, const std::function<bool(double)>& enough = {});

  /// log E at the minimiser, which fulfils the constraints about as well as the multipliers are the best: for guidance.
  [[nodiscard]] double primal() const { return primal_; }
  [[nodiscard]] const Multipliers& multipliers() const { return at_.z; }
  [[nodiscard]] const Blend& blend() const { return blend_; }
  /// The minimiser: each arm's shift along its direction; the force on the first arm, and how fast its shift grows with it.
  [[nodiscard]] const std::array<double, 4>& along() const { return at_.along; }
  [[nodiscard]] double force() const { return at_.force[role_u]; }
  [[nodiscard]] double spread() const { return at_.spread[role_u]; }

 private:
  /// The Lagrangian at one place.
  struct Point {
    Multipliers z;
    double value = 0.0;
    std::array<double, 4> along{}, spread{}, force{};  ///< of each arm: the minimiser, its derivative in the force, the force
    std::array<double, 3> gradient{};                  ///< in mu, delta, eta
    std::array<std::array<double, 3>, 3> curvature{};  ///< minus the Hessian
  };

  [[nodiscard]] Point evaluate(const Frame& frame, const Multipliers& z) const;
  /// On a line, e being f.
  [[nodiscard]] bool is_still(const Frame& frame) const;
  /// Newton's method on the concave Lagrangian, mu >= 0 and delta >= 0, until a step would gain less than `close`.
  void climb(const Frame& frame, double close);
  [[nodiscard]] std::array<Shift, 4> shifts(const Frame& frame) const;

  const AlignedPiece* piece_;
  Blend blend_;
  Point at_;
  Components share_, answer_;  ///< of which the blend is made, and those that E has at the minimiser
  Components from_;            ///< scratch
  double primal_ = 0.0;
};

}  // namespace linkarms
