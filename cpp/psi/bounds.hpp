// When a bound rules a candidate out, with room for rounding.
#pragma once

#include <algorithm>
#include <array>

#include "math/constants.hpp"
#include "math/matrix.hpp"

namespace linkarms::psi {

/// A bound has to be above a level by more than this, relatively, before it counts as above it.
inline constexpr double room = 1.0 + 1e-12;
/// The same for lengths, of which a difference of zero, but for rounding, may cost nothing.
inline constexpr double shrink = 1.0 - 1e-14;
/// Costs are asked for up to a level a little higher: one just at the level may be taken for one above it,
/// and a tie missed.
inline constexpr double ties = 1.0 + 1e-9;
/// Arms that are looked at at once: a loop of fixed length without branches becomes vector instructions.
inline constexpr int block = 16;

/// x |x|: squares that keep their sign, so that a negative gap is below every level without a branch.
[[nodiscard]] inline double signed_square(double x) {
  return x * (x < 0.0 ? -x : x);
}

struct Range {
  double least, largest;
};
/// The least and the largest of some numbers; of many, by several at a time that do not wait for each other.
[[nodiscard]] inline Range range_of(View values) {
  constexpr std::size_t at_once = 8, many = 64;
  Range found{inf, -inf};
  std::size_t i = 0;
  if (values.size() >= many) {
    std::array<double, at_once> least, largest;
    least.fill(inf);
    largest.fill(-inf);
    for (; i + at_once <= values.size(); i += at_once) {
      for (std::size_t j = 0; j < at_once; ++j) {
        least[j] = std::min(least[j], values[i + j]);
        largest[j] = std::max(largest[j], values[i + j]);
      }
    }
    found = {std::ranges::min(least), std::ranges::max(largest)};
  }
  for (; i < values.size(); ++i) found = {std::min(found.least, values[i]), std::max(found.largest, values[i])};
  return found;
}

/// Whether an edge and an inter pair that share no arm may cost as little as a level, of which `twice` is the
/// double.
///   cost >= (q - p)^2 / (2 (s + r)),   q, s: length and spread of the pair; p, r: of the edge (section 2.3 of math.md)
/// A shared arm needs its spread four times; see `Attachments`.
[[nodiscard]] inline bool crosses(double q, double s, double p, double r, double twice) {
  return signed_square(q * shrink - p) <= twice * (r + s);
}

}  // namespace linkarms::psi
