// A distribution g on the components of an aligned mixture turns log E into a sum over arms (Gibbs, 7.4 of math.md):
//
//   log E(lambda) >= sum_k g_k l_k(lambda) + sum_k g_k log(mass_k / g_k)
//                  = sum_m [ sum_j g_j H(s_mj y_m) + A_m |w_m|^2 / 2 ] + constant
//
// with y_m^2 in place of |w_m|^2 for intra arms. Both sides are equal where g is E's own.
#pragma once

#include <array>
#include <vector>

#include "evidence/aligned_piece.hpp"

namespace linkarms {

/// psi(y) = sum_j g_j H(s_j y) + A y^2/2 of one arm, A > 0. psi' is convex, increasing and takes every value.
class Profile {
 public:
  struct Conjugate {
    double value;   ///< at most min_y [psi(y) - t y], and within 4e-10 of it, but for rounding
    double y;       ///< the minimiser
    double spread;  ///< 1 / psi''(y)
    double lean;    ///< of a parabola below: the conjugate at t + x is at least  value - lean x - x^2/(2A)
  };
  /// Of the conjugate: a residue r of the slope at y is not above sqrt(2 A tolerance).
  static constexpr double tolerance = 2e-10;
  /// The conjugate at t; `start` is any guess of the minimiser.
  /// Newton's method on psi' = t: as psi' is convex, every iterate but the first is right of the root and
  /// goes down to it. A residue r of the slope at y means a minimum of at least psi(y) - t y - r^2/(2A),
  /// since psi'' >= A; the same parabola below psi gives `lean`, which is y - r/A.
  [[nodiscard]] Conjugate conjugate(double t, double start) const;

  [[nodiscard]] double across() const { return across_; }

 private:
  friend class Blend;
  struct Term {
    double share, slope;
  };
  std::vector<Term> terms_;
  double across_ = 0.0;  ///< A
};

/// The right side above for one piece. Components with small shares are left out, but never all isotropic ones: without them an
/// arm could go to infinity against its direction at no cost, and A would be zero.
class Blend {
 public:
  /// `still`: the shared arm has no direction. Aligned components with a share below `least` are left out.
  void set(const AlignedPiece& piece, bool still, const Components& g, double least);

  [[nodiscard]] const Profile& operator[](std::size_t m) const { return arms_[m]; }
  [[nodiscard]] double constant() const { return constant_; }

 private:
  std::array<Profile, 4> arms_;
  double constant_ = 0.0;
  Components kept_;  ///< scratch
};

}  // namespace linkarms
