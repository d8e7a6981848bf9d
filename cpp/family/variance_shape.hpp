// What the samples of an arm of unknown variance say of its shape, and the evidence that goes with that.
#pragma once

#include <span>
#include <vector>

#include "family/samples.hpp"
#include "family/variance_rise.hpp"
#include "math/matrix.hpp"

namespace linkarms {

/// The estimated shape of one arm: t = D' (S/n)^-1 D with S its squares about the mean; one t per arm, or one per
/// coordinate. Flat: S says nothing against any mean in some direction.
struct ArmShape {
  bool flat = true;
  double widest = 0.0;        ///< largest variance in any direction
  std::vector<double> units;  ///< S/n: one number, or one per coordinate
  Matrix covariance, lower;   ///< S/n as a matrix and its Cholesky factor

  ArmShape() = default;
  /// n >= 1 samples of d numbers.
  ArmShape(Variances variances, Index d, double n, const Moments& kept);
  /// The forms of D = x - mean; one or d of them.
  void forms(View mean, View x, std::span<double> t) const;
  /// The same variance in every direction, the largest: its one t = |D|^2 / widest is never above the sum of these.
  [[nodiscard]] ArmShape rounded() const;
};

/// How many t an arm of the model has.
[[nodiscard]] std::size_t forms_per_arm(const Model& model);

/// How the evidence of one arm rises with each of its t, for a prior that weighs c samples; and its price. `centred`: the
/// prior of the precision is centred at the tested one.
struct ArmMixture {
  VarianceRise rise;
  double price;

  ArmMixture(const ArmShape& shape, Variances variances, Index d, double n, double c, bool centred);
};

}  // namespace linkarms
