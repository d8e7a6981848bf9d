// All directions of a piece with a shared arm at once, in d >= 2: a bound in cells of beta and gamma for one set of multipliers
// and one blend.
//
// With tau = q t sin(beta), (1) of evidence/aligned_box.cpp is, as t^2 cancels,
//   k_u(F) - (eta s - delta c)^2/(2 A_u) + h G^2/2 + nu q cos(beta) + h q^2 sin(beta)^2/2 + (h G + eta) tau - mu p cos(alpha)
// and a constant. Its smallest value over t has a closed form: tau is linear in X = cos(chi), and the last two terms are a wave
// in chi. So (1) for the worst t costs little at the corners of the cells. Within a cell, let t be fixed:
// - gamma: for one eta' = eta + h (G' + tau), G' half way between G_0 and G_1 at two edges, the Lagrangian is at least (1) less
//   h (G_1 - G_0)^2/8 there. Its second derivative is at most
//     max(y F)/4 + (eta'^2 + delta^2)/(4 A_u) + mu p ,
//   as k_u is concave and the rest are waves, F of gamma/2. (-cos(alpha) is the least of -p'.f over all p' at the angle of p
//   from q: a least of waves.) So between the edges it is above the smaller end less an eighth of that times the width squared.
// - beta: the same for (1), of which the second derivative is at most
//     h q^2 cos(2 beta) - nu q cos(beta) + |h G + eta| q sin(beta) + mu p .
// The corners of a cell, each for its own worst t, and these losses bound the cell. A few sets of multipliers are enough where
// the infimum is well above a level. What they leave is for branch and bound.
#pragma once

#include <array>

#include "evidence/aligned_directions.hpp"

namespace linkarms {

class DirectionSweep {
 public:
  /// Cells of the beta and gamma from `low` to `high`, for all t between theirs.
  DirectionSweep(const PairDifferences& pairs, const Directions& low, const Directions& high);

  /// Raise the bounds of the cells that are below `level` to what the dual's blend and multipliers give, where that is more.
  void raise(const AlignedDual& dual, double level);

  [[nodiscard]] double bound(std::size_t beta, std::size_t gamma) const { return cells_[gamma][beta].bound; }
  [[nodiscard]] double edge_of_beta(std::size_t i) const { return edge(0, static_cast<double>(i) / n_beta); }
  [[nodiscard]] double edge_of_gamma(std::size_t i) const { return edge(1, static_cast<double>(i) / n_gamma); }

  /// How many cells are below `level`; the smallest box of beta and gamma that holds them; the middle of the lowest cell.
  struct Rest {
    int cells = 0;
    Directions low{}, high{}, worst{};
    double cleared;  ///< the smallest bound of the other cells
  };
  [[nodiscard]] Rest rest(double level) const;

  static constexpr std::size_t n_beta = 6, n_gamma = 12;

 private:
  struct Cell {
    double bound, t;  ///< and the worst t at its lowest corner
  };
  [[nodiscard]] double edge(std::size_t k, double share) const {
    return share < 1.0 ? low_[k] + share * (high_[k] - low_[k]) : high_[k];
  }

  double p_, q_, angle_;
  Directions low_, high_;
  std::array<std::array<Cell, n_beta>, n_gamma> cells_;
};

}  // namespace linkarms
