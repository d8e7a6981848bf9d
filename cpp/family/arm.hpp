// One arm in any dimension: independent coordinates, a Gaussian with a full covariance, or categories.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "family/knots.hpp"
#include "family/scalar.hpp"
#include "math/matrix.hpp"

namespace linkarms {

/// A known covariance that is not a multiple of the identity, with what the formulas need of it.
struct FullCovariance {
  /// Throws std::invalid_argument unless the matrix is symmetric and positive definite.
  explicit FullCovariance(Matrix matrix);

  Matrix covariance, precision;
  double largest_precision;  ///< largest eigenvalue of the inverse
  double largest_variance;   ///< largest eigenvalue
};

/// Vectors of probabilities; a sample is the indicator of one category.
struct Categories {
  Index count;
};

/// The distribution of one arm's samples. theta and lam are vectors of d numbers.
class Arm {
 public:
  explicit Arm(std::vector<Scalar> coordinates);
  explicit Arm(FullCovariance covariance);
  explicit Arm(Categories categories);
  /// One number between bounds: to psi a Gaussian of the largest variance that the bounds allow; the evidence may bet.
  /// Throws std::invalid_argument unless the bounds are finite and low < high.
  explicit Arm(const SampleBounds& range);

  /// Number of entries of a parameter, d.
  [[nodiscard]] Index dimension() const;
  [[nodiscard]] bool has_coordinates() const { return std::holds_alternative<Coordinates>(kind_); }
  [[nodiscard]] bool has_covariance() const { return std::holds_alternative<FullCovariance>(kind_); }
  [[nodiscard]] bool is_categorical() const { return std::holds_alternative<Categories>(kind_); }
  /// The families of independent coordinates; only where has_coordinates().
  [[nodiscard]] const std::vector<Scalar>& coordinates() const { return std::get<Coordinates>(kind_); }
  [[nodiscard]] const FullCovariance& covariance() const { return std::get<FullCovariance>(kind_); }
  /// The bounds of its samples, where they are one number with known bounds.
  [[nodiscard]] const std::optional<SampleBounds>& range() const { return range_; }
  /// Whether all coordinates are Gaussian with one variance; that variance is `variance(theta)`.
  [[nodiscard]] bool is_isotropic() const { return isotropic_; }

  /// KL(theta, lam) of one sample.
  [[nodiscard]] double kl(View theta, View lam) const;
  /// Largest eigenvalue of the Fisher information (categories: in the first d - 1 probabilities).
  [[nodiscard]] double fisher(View theta) const;
  /// Largest variance in any direction where the arm is Gaussian; elsewhere one over the Fisher information.
  [[nodiscard]] double variance(View theta) const;
  /// sum_i max(KL(theta, theta - eps e_i), KL(theta, theta + eps e_i)): section 3 of math.md.
  [[nodiscard]] double shift_kl(View theta, double eps) const;
  /// The estimate from the mean of the statistics, clipped to the box (d rows of low and high), into theta.
  void estimate(View mean, const Matrix& box, MutView theta) const;
  /// Log evidence of n samples with this mean against lam: the centred mixture that weighs c samples (section
  /// 5); NaN where a family has none.
  [[nodiscard]] double log_evidence(double n, View mean, View lam, double c) const;
  /// The price R of a fixed prior, for families without a centred mixture; rounded up. 0 without samples.
  [[nodiscard]] double regret(double n, View theta) const;

 private:
  using Coordinates = std::vector<Scalar>;
  std::variant<Coordinates, FullCovariance, Categories> kind_;
  bool isotropic_ = false;
  std::optional<SampleBounds> range_;
};

/// A Gaussian arm with this covariance: independent coordinates where it is a multiple of the identity.
[[nodiscard]] Arm gaussian_arm(Matrix covariance);

}  // namespace linkarms
