// The families of all arms.
#pragma once

#include <vector>

#include "family/arm.hpp"
#include "math/matrix.hpp"

namespace linkarms {

/// How the pair problem of a model is solved; the five kinds of section 2.1 of math.md.
enum class Kind {
  isotropic,         ///< Gaussian arms, one variance each for all directions: closed forms
  covariance,        ///< Gaussian arms, some with a full covariance: eigenvalue problems
  scalar,            ///< one parameter each, of any family: the concave dual in one multiplier
  vector,            ///< anything else in d >= 2: a safe lower bound
  unknown_variance,  ///< Gaussian arms of unknown variance: isotropic to psi, with evidence of its own
};

/// What is known of the variances of Gaussian arms.
enum class Variances {
  known,
  separate,    ///< each arm has its own, the same in all directions
  shared,      ///< one for all arms and directions
  coordinate,  ///< each arm has one per coordinate; coordinates are independent
  full,        ///< each arm has a covariance
};

/// The families of M arms with d numbers per sample. Never changes once it is made.
class Model {
 public:
  /// Throws std::invalid_argument where arms of kinds that do not mix are given.
  Model(std::vector<Arm> arms, Index n_features, Variances variances = Variances::known);

  [[nodiscard]] Index n_arms() const { return static_cast<Index>(arms_.size()); }
  [[nodiscard]] Index n_features() const { return n_features_; }
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] Variances variances() const { return variances_; }
  [[nodiscard]] const Arm& arm(Index m) const { return arms_[static_cast<std::size_t>(m)]; }
  /// The family of an arm with one parameter.
  [[nodiscard]] const Scalar& scalar(Index m) const { return arm(m).coordinates().front(); }
  /// Number of free parameters of an arm: d, or d - 1 for probabilities that add up to one.
  [[nodiscard]] Index chart_dimension() const;
  /// Whether any arm has samples between known bounds.
  [[nodiscard]] bool has_range() const { return has_range_; }
  /// Whether any arm is of a user's own family.
  [[nodiscard]] bool has_user_family() const { return has_user_family_; }

 private:
  std::vector<Arm> arms_;
  Index n_features_;
  Variances variances_;
  Kind kind_;
  bool has_user_family_ = false, has_range_ = false;
};

}  // namespace linkarms
