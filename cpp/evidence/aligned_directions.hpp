// The directions of the two pairs of a piece, up to what log E does not see, and how far a lower bound falls within a box of
// them.
//
// Four arms: t = cos(beta), beta the angle between e and q. The intra pair does best for the adversary where it is: f = p/|p|.
//
// Shared arm: beta, gamma (the angle between e and f), and t, the cosine between the parts of q and f perpendicular to e. In the
// plane t = 1 or -1; on a line all angles are 0 or pi. With chi the angle between q and f,
//   cos(chi) = cos(beta) cos(gamma) + t sin(beta) sin(gamma),
// f is at least |chi - angle(p, q)| away from p, in any dimension, and a smaller angle never costs the adversary more: the bound
// of evidence/aligned_dual.hpp sees p in p.f alone.
#pragma once

#include <array>
#include <vector>

#include "evidence/aligned_dual.hpp"
#include "math/descent.hpp"

namespace linkarms {

/// t, or beta, gamma, t.
using Directions = std::array<double, 3>;

struct DirectionBox {
  Directions low{}, high{};
  double bound = 0.0;  ///< of the infimum over the box
};

/// What a box is sure to reach, and the variable that costs most.
struct BoxBound {
  double value;
  std::size_t side;
};

/// The differences p and q of a piece's means.
struct PairDifferences {
  explicit PairDifferences(const AlignedPiece& piece);

  std::vector<double> intra, inter;
  double p, q;   ///< their lengths
  double angle;  ///< between them
};

class FourDirections {
 public:
  explicit FourDirections(const AlignedPiece& piece) : piece_(&piece), pairs_(piece) {}

  /// All directions with an angle between e and q of at most beta.
  [[nodiscard]] std::vector<DirectionBox> everything(double beta) const;
  [[nodiscard]] Directions start() const { return {1.0, 0.0, 0.0}; }
  [[nodiscard]] Frame frame(const Directions& at) const;
  /// A bound for the whole box from the dual's blend and multipliers, which give `value` at the directions
  /// `at` inside it. For them the bound is concave in t.
  [[nodiscard]] BoxBound bound(const AlignedDual& dual, double value, const Directions& at, const DirectionBox& box) const;
  /// The dual's minimiser as a point of the piece with these directions.
  [[nodiscard]] Matrix lambda(const AlignedDual& dual, const Directions& at) const;
  /// Coordinates without bounds, for descent: beta; where to begin, the dual being solved for `start()`; and
  /// the derivatives of the dual's best value, the dual being solved for `directions(x)`.
  [[nodiscard]] Directions directions(const Vector3& x) const;
  [[nodiscard]] Vector3 coordinates(const Directions& at) const;
  [[nodiscard]] Vector3 first(const AlignedDual& dual) const;
  [[nodiscard]] Vector3 gradient(const AlignedDual& dual, const Vector3& x) const;
  [[nodiscard]] const PairDifferences& pairs() const { return pairs_; }

 private:
  const AlignedPiece* piece_;
  PairDifferences pairs_;
};

/// The same for a shared arm.
class SharedDirections {
 public:
  explicit SharedDirections(const AlignedPiece& piece) : piece_(&piece), pairs_(piece) {}

  [[nodiscard]] std::vector<DirectionBox> everything(double beta) const;
  [[nodiscard]] Directions start() const { return {0.0, pairs_.angle, 1.0}; }
  [[nodiscard]] Frame frame(const Directions& at) const;
  [[nodiscard]] BoxBound bound(const AlignedDual& dual, double value, const Directions& at, const DirectionBox& box) const;
  [[nodiscard]] Matrix lambda(const AlignedDual& dual, const Directions& at) const;
  /// The coordinates are beta t, beta sqrt(1 - t^2) and gamma.
  [[nodiscard]] Directions directions(const Vector3& x) const;
  [[nodiscard]] Vector3 coordinates(const Directions& at) const;
  [[nodiscard]] Vector3 first(const AlignedDual& dual) const;
  [[nodiscard]] Vector3 gradient(const AlignedDual& dual, const Vector3& x) const;
  [[nodiscard]] const PairDifferences& pairs() const { return pairs_; }

 private:
  [[nodiscard]] double cosine_of_chi(const Directions& at) const;

  const AlignedPiece* piece_;
  PairDifferences pairs_;
};

}  // namespace linkarms
