// One-sided mixtures of arms with one parameter: what each arm contributes to the evidence against a piece.
//
// A tested parameter lam is compared with parameters on one side of it. They are fixed shifts of the natural parameter: the
// ratio x/lam for rates and for means of counts, the odds ratio for probabilities. With theta_i = +-h_i u the log of that
// ratio, u the family's unit, and x_i = exp(theta_i) - 1, the log likelihood ratio of n samples with the sum S is
//   gamma, shape k, by the rate:  k n theta_i - S lam x_i            u = 1/sqrt(k)
//   Poisson, by the mean:         S theta_i - n lam x_i              u = 1
//   Bernoulli:                    S theta_i - n log(1 + lam x_i)     u = 2
// Each is convex in lam, and monotone: it falls in lam for shifts upwards and rises for shifts downwards. So is
//   l_j(lam) = log sum_i w_ji exp(log likelihood ratio i),
// the log of the mixture that the arm has in component j. The weights w_ji belong to c_j: see `ShiftPrior`.
#pragma once

#include <array>
#include <vector>

#include "family/scalar.hpp"
#include "math/constants.hpp"

namespace linkarms {

/// How many shifts there are: none, and 83 sizes.
inline constexpr std::size_t n_shifts = 84;
/// One number for each shift.
using Shifts = std::array<double, n_shifts>;

/// The shifts h_0 = 0, h_i = 5e-5 * 1.15^(i-1), and their weights for each c of the grid: w_j0 = 1/50 for no shift at all, and
///   w_ji proportional to (2 / (h_i/s + s/h_i))^3,  s = 1/sqrt(c_j),
/// for the others. They add up to 1. Heavy tails on both sides of s: arms of one piece need not have shifts of one size, and
/// none is out of reach.
class ShiftPrior {
 public:
  /// Throws std::invalid_argument unless each c is above 0. The logs of all weights are divided by `discount`, which is 1
  /// unless the rule was weakened on purpose.
  ShiftPrior(const std::vector<double>& grid, double discount);

  [[nodiscard]] static const Shifts& shifts();
  [[nodiscard]] std::size_t components() const { return weights_.size(); }
  [[nodiscard]] const Shifts& weights(std::size_t j) const { return weights_[j]; }
  /// The log of the mass of each component where all share `mass`.
  [[nodiscard]] double log_mass(double mass) const;
  /// The log of the weight of no shift: no arm's l_j is below it.
  [[nodiscard]] double log_still() const;

 private:
  std::vector<Shifts> weights_;
  double discount_;
};

/// l_j of one arm at one lam, and its derivatives, for every j.
struct ShiftTerms {
  std::vector<double> value, slope, curvature;
};

/// Whether a family has one-sided mixtures that are convex in its parameter.
[[nodiscard]] bool has_shifts(const Scalar& family);

/// One arm: the shifts of its family, and its samples.
class ShiftedArm {
 public:
  /// Throws std::invalid_argument for a family without such mixtures.
  explicit ShiftedArm(const Scalar& family);
  void set(double count, double mean);

  /// The sign of the shifts: whether the alternatives are above lam or below.
  enum class Side { above, below };
  /// l_j(lam) for every j.
  void values(const ShiftPrior& prior, Side side, double lam, std::vector<double>& out) const;
  void terms(const ShiftPrior& prior, Side side, double lam, ShiftTerms& out) const;

  [[nodiscard]] double highest() const { return kind_ == Kind::odds ? 1.0 : inf; }
  /// A guess of the parameter inside its domain, and the variance of the estimate.
  [[nodiscard]] double centre() const { return centre_; }
  [[nodiscard]] double variance() const { return variance_; }
  /// How many samples a prior of c_j = 1 weighs.
  [[nodiscard]] double scale() const { return scale_; }

 private:
  enum class Kind { linear, odds };
  /// For each shift the log of the ratio, theta, and the ratio less 1, x.
  struct Ratios {
    Shifts log, less_one;
  };
  [[nodiscard]] const Ratios& ratios(Side side) const { return side == Side::above ? above_ : below_; }
  /// The shifts whose likelihood ratios are not negligible: from `first` to before `last`. Sums over them are those of a
  /// smaller mixture: a lower bound, and as convex.
  struct Window {
    std::size_t first, last;
    double top;  ///< the log of the largest ratio
  };
  /// The likelihood ratios of the window over the largest.
  [[nodiscard]] Window fill(Side side, double lam, Shifts& out) const;

  Scalar family_;
  Kind kind_;
  Ratios above_{}, below_{};
  double power_ = 0.0, rate_ = 0.0;  ///< what theta and x are multiplied by
  double centre_ = 0.0, variance_ = 0.0, scale_ = 1.0;
};

}  // namespace linkarms
