// All directions of a piece with a shared arm at once, in d >= 2: a bound in cells of beta and gamma for one multiplier and one
// blend.
//
// With delta = eta = 0 formula (1) of evidence/aligned_box.cpp is, for t at its worst,
//   k_u(F) + k_v(mu) + k_b(mu) + mu q cos(beta) + h (|y(F)| c - q sin(beta))^2/2 - mu p cos(alpha) + constant,   F = 2 mu s,
// s and c being sine and cosine of gamma/2. k_u is concave, y increases, and alpha >= |gamma - angle(p, q)| - beta: so in a cell
// the ends of gamma bound k_u and |y| c. As a function of beta the two terms with q nearly cancel where the adversary turns the
// pair, so they are taken together: with x = |y| c the second derivative of their sum is at most
//   h (q^2 cos(beta)^2 + x^2/4) - mu q cos(beta),
// and a function is above the smaller of its ends less an eighth of that times the width squared.
// A few multipliers are enough where the infimum is well above a level. What they leave is for branch and bound.
#pragma once

#include <array>

#include "evidence/aligned_directions.hpp"

namespace linkarms {

class DirectionSweep {
 public:
  /// Cells of the beta and gamma from `low` to `high`, for every t.
  DirectionSweep(const PairDifferences& pairs, const Directions& low, const Directions& high);

  /// Raise the bounds of the cells that are below `level` to what the dual's blend and multiplier give, where that is more.
  void raise(const AlignedDual& dual, double level);

  [[nodiscard]] double bound(std::size_t beta, std::size_t gamma) const { return bound_[gamma][beta]; }
  [[nodiscard]] double edge_of_beta(std::size_t i) const { return edge(0, static_cast<double>(i) / n_beta); }
  [[nodiscard]] double edge_of_gamma(std::size_t i) const { return edge(1, static_cast<double>(i) / n_gamma); }

  /// How many cells are below `level`; the smallest box of beta and gamma that holds them; the middle of the lowest cell.
  struct Rest {
    int cells = 0;
    Directions low{}, high{}, worst{};
    double cleared;  ///< the smallest bound of the other cells
  };
  [[nodiscard]] Rest rest(double level) const;

  static constexpr std::size_t n_beta = 12, n_gamma = 24;

 private:
  [[nodiscard]] double edge(std::size_t k, double share) const {
    return share < 1.0 ? low_[k] + share * (high_[k] - low_[k]) : high_[k];
  }

  double p_, q_, angle_;
  bool planar_;
  Directions low_, high_;
  std::array<std::array<double, n_beta>, n_gamma> bound_;
  std::array<std::array<int, n_beta>, n_gamma> slice_;  ///< the slice of t that was last seen to be too low
};

}  // namespace linkarms
