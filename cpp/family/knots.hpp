// The samples of one arm between two known bounds, in a finite state (section 6.1 of math.md).
//
// With y = (x - low) / (high - low) in [0, 1] and the knots k/360, a sample between two knots is divided between them so
// that its mean stays: 1 - s and s of a sample, s its way from the one to the other. What a bet takes from a sample, log((1 -
// f) + f y/m), is concave in y, so by Jensen's inequality its sum over knots is never above that over samples, and equal
// where samples lie on knots: ratings on any scale whose number of steps divides 360. What is lost otherwise is second order
// in the distance of two knots.
#pragma once

#include <span>
#include <stdexcept>
#include <vector>

#include "math/matrix.hpp"

namespace linkarms {

/// The bounds of one number.
struct SampleBounds {
  double low, high;

  [[nodiscard]] double width() const { return high - low; }
};

/// How many samples, in parts, a knot has.
struct Knot {
  Index place;
  double weight;
};

/// Invariant: places are from 0 to `most` and increase, weights are above 0 and add up to the number of samples.
class Knots {
 public:
  static constexpr Index most = 360;

  void add(const SampleBounds& range, double sample);
  [[nodiscard]] std::span<const Knot> all() const { return knots_; }
  /// The mean of y; 0 of no samples.
  [[nodiscard]] double mean() const;
  /// Throws std::invalid_argument unless these can be what `count` samples with mean `mean` have left.
  void set(std::vector<Knot> knots, const SampleBounds& range, double count, double mean);

 private:
  void add(Index place, double weight);

  std::vector<Knot> knots_;
};

/// The same samples on at most `limit` >= 31 knots: every second, third, ... knot serves where there are more. Those
/// samples lie so far apart that little is lost.
[[nodiscard]] std::vector<Knot> coarsened(std::span<const Knot> knots, std::size_t limit);

}  // namespace linkarms
