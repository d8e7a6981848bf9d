// The infimum of log E over a whole piece, bracketed: branch and bound over the directions of its two pairs.
#pragma once

#include <optional>

#include "evidence/aligned_directions.hpp"
#include "evidence/aligned_piece.hpp"
#include "math/constants.hpp"

namespace linkarms {

/// The isotropic components alone: the closed forms of 2.1, at the c with the most evidence.
struct IsotropicPart {
  double value = -inf;            ///< log E is at least this all over the piece
  Index scale = 0;                ///< the place of that c
  std::array<double, 4> along{};  ///< about how far each arm is shifted at its minimum
  double mu = 0.0;                ///< the multiplier of the constraint
};
[[nodiscard]] IsotropicPart isotropic_part(const AlignedPiece& piece, const PairDifferences& pairs);

/// When to end the search.
struct SearchGoal {
  double enough = inf;       ///< as soon as the lower bound is at least this
  double too_little = -inf;  ///< as soon as the infimum is known to be below this
  double gap = 2e-3;         ///< where lower and upper are so near
  int boxes = 2000;          ///< after so many boxes, whatever is known
};

struct Bracket {
  double lower = -inf;  ///< the infimum is at least this
  double upper = inf;   ///< log E at `point`
  AlignedPoint point;   ///< of the piece; none where `enough` was proved and none was below it
  Directions at{};      ///< its directions
  int boxes = 0;
};

/// Deterministic: depends on the piece and the goal alone. Where `enough` is well below the infimum, a proof of just that takes
/// little work. Without one the way does not depend on the levels: what a search without levels proves is proved.
[[nodiscard]] Bracket bracket_infimum(const AlignedPiece& piece, const SearchGoal& goal);

/// A point of the piece where log E is small: down from the directions `at` until it is below `level`; without them, the best
/// one with the directions of the means, or the proof that there is none below `level` where that takes little work.
[[nodiscard]] Bracket look_below(const AlignedPiece& piece, const std::optional<Directions>& at, double level);

}  // namespace linkarms
