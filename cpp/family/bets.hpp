// Bounded samples without a model: bets on the mean (section 6.1 of math.md).
//
// With y in [0, 1] the samples in units of their range, and m in (0, 1) a tested mean, for fractions f_j
//   up_j(m) = prod_i ((1 - f_j) + f_j y_i/m),   down_j(m) = prod_i ((1 - f_j) + f_j (1 - y_i)/(1 - m))
// have mean one at the true mean whatever the distribution, and l is the log of the average of all of them. The logarithm of
// each factor is convex in m, and so is l. Samples come on knots (family/knots.hpp), which never makes l larger.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "family/knots.hpp"
#include "math/constants.hpp"

namespace linkarms {

/// What the bets of one arm have won after at least one sample: l, convex on the range, infinite outside.
class Wealth {
 public:
  static constexpr std::array fractions{0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8};
  /// A function of m with its first two derivatives.
  struct Value {
    double value, slope, bend;
  };

  Wealth(const SampleBounds& bounds, std::span<const Knot> knots);

  [[nodiscard]] double scaled(double lam) const { return (lam - bounds_.low) / bounds_.width(); }
  [[nodiscard]] double unscaled(double m) const { return bounds_.low + m * bounds_.width(); }
  [[nodiscard]] double width() const { return bounds_.width(); }
  /// The mean of y.
  [[nodiscard]] double mean() const { return mean_; }
  /// l at m, the tested mean in units of the range.
  [[nodiscard]] Value at(double m) const;
  [[nodiscard]] double log_evidence(double lam) const { return at(scaled(lam)).value; }

 private:
  /// A place in [0, 1] with the weight of its samples.
  struct Mass {
    double y, weight;
  };
  /// The log of up, or of down with y and m from the other end, for one fraction; in m from that end.
  [[nodiscard]] Value product(double fraction, double m, bool from_above) const;

  SampleBounds bounds_;
  std::vector<Mass> masses_;
  double count_ = 0.0, mean_ = 0.0;
};

/// l as a cost of one number: see family/mixture.hpp.
class Bets {
 public:
  explicit Bets(Wealth wealth);

  [[nodiscard]] double minimiser() const { return wealth_.unscaled(minimiser_); }
  [[nodiscard]] double log_evidence(double lam) const { return wealth_.log_evidence(lam); }
  [[nodiscard]] double rise(double lam) const;
  [[nodiscard]] double step(double slope) const { return wealth_.unscaled(find(slope * wealth_.width())); }
  [[nodiscard]] double gain(double lam) const;
  [[nodiscard]] static double slope_limit() { return inf; }
  [[nodiscard]] static double inflection() { return inf; }

 private:
  /// Where l' is `slope`, in units of the range; near the end of [0, 1] where it is nowhere.
  [[nodiscard]] double find(double slope) const;

  Wealth wealth_;
  double minimiser_, minimum_ = 0.0;
};

}  // namespace linkarms
