// Aligned evidence against one piece (section 10 of math.md): the mixture, and its value at a tested lambda.
//
// A piece is a pair of pairs (u,v; a,b) and stands for all lambda with |lambda_u - lambda_v| >= |lambda_a - lambda_b|. Let
// w_m = xbar_m - lambda_m, and n_m the unit vector along which arm m makes |lambda_a - lambda_b| - |lambda_u - lambda_v| grow.
// log E is the log of a mixture over components with these log evidences, J values of c for each kind:
//   aligned, mass (1 - eta)/J each:  sum_m [ H(s_m y_m) + B_m |w_m|^2/2 - prices ],  y_m = w_m . n_m
//   inter,   mass eta/2J each:       sum over a, b of [ Q_m |w_m|^2/2 - (d/2) log(1 + N_m/c) ]
//   all,     mass eta/2J each:       the same, and for the other arms Q_m y_m^2/2 - 1/2 log(1 + N_m/c)
// with H of math/one_sided.hpp, Q = N^2/(v (N + c)), v the arm's variance; in d >= 2 inter and shared arms have
// B = N^2/(v (N + rho c)), N' = N rho c/(N + rho c), others B = 0, N' = N; s = N'/sqrt(v (N' + c)), and the prices are
// 1/2 log(1 + N'/c) and, where B > 0, (d/2) log(1 + N/(rho c)).
// The priors: shifts h n + xi, h ~ |N(0, v/c)|, xi ~ N(0, I v/(rho c)); N(0, I v/c); and N(0, v/c) along n alone. Arms of
// the intra pair alone need no more: in no component do they pay for shifts perpendicular to n, and gain nothing by them.
#pragma once

#include <array>
#include <vector>

#include "math/matrix.hpp"

namespace linkarms {

/// One number for each component: J aligned, J inter, J all.
using Components = std::vector<double>;

/// What the evidence is made of besides the samples.
class AlignedRule {
 public:
  /// `grid` holds c_1..c_J, positive; `ratio` is rho, how much tighter the prior is across its direction;
  /// `isotropic` is eta, the mass of the two-sided parts, between 0 and 1. Prices and the logs of masses are
  /// divided by `discount`, which is 1 unless the rule was weakened on purpose.
  AlignedRule(std::vector<double> grid, double ratio, double isotropic, double discount = 1.0);
  /// The rule as it is used: rho = 12 d, eta = 0.05.
  [[nodiscard]] static AlignedRule standard(std::vector<double> grid, Index d, double discount);

  [[nodiscard]] const std::vector<double>& grid() const { return grid_; }
  [[nodiscard]] double ratio() const { return ratio_; }
  [[nodiscard]] double discount() const { return discount_; }
  /// The log of each component's mass, and of one that is isotropic.
  [[nodiscard]] const Components& log_mass() const { return log_mass_; }
  [[nodiscard]] double log_mass_isotropic() const { return log_mass_.back(); }

 private:
  std::vector<double> grid_;
  double ratio_, discount_;
  Components log_mass_;
};

/// How far an arm's mean is from the tested value: along its direction, and in all (squared).
struct Shift {
  double along = 0.0, square = 0.0;
  bool still = false;  ///< a shared arm that has no direction, e being f
};

/// Where an arm is in its piece. A shared arm is inter.
enum class Place { intra, inter };

/// The coefficients of one arm for every c.
class AlignedArm {
 public:
  /// Throws std::invalid_argument for an arm without samples.
  AlignedArm(const AlignedRule& rule, Index d, Place place, double count, double variance);

  struct Terms {
    double slope, along_price;    ///< s and 1/2 log(1 + N'/c)
    double across, across_price;  ///< B and (d/2) log(1 + N/(rho c)), or zero
    double weight, price;         ///< Q and (d/2) log(1 + N/c), of an intra arm 1/2 log(1 + N/c)
  };
  [[nodiscard]] const Terms& operator[](std::size_t j) const { return terms_[j]; }
  [[nodiscard]] Place place() const { return place_; }
  /// Add the arm's log evidence to that of each component, within 1e-11.
  void add_evidence(const Shift& w, Components& out) const;

 private:
  Place place_;
  std::vector<Terms> terms_;
};

/// The arms of a piece in this order; where u = a is shared there are three.
enum Role : std::size_t { role_u, role_v, role_b, role_a };

/// One piece with the statistics of its arms. Holds views: rule, coefficients and means must outlive it.
class AlignedPiece {
 public:
  /// `arms` and `means` in the order of `Role`; three of them, the last being ignored, for a shared arm.
  AlignedPiece(const AlignedRule& rule, const std::array<const AlignedArm*, 4>& arms, const std::array<View, 4>& means,
               bool shared)
      : rule_(&rule), arms_(arms), means_(means), size_(shared ? 3 : 4) {}

  [[nodiscard]] std::size_t grid_size() const { return rule_->grid().size(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool shared() const { return size_ == 3; }
  [[nodiscard]] std::size_t role_of_a() const { return shared() ? role_u : role_a; }
  [[nodiscard]] Index dimension() const { return static_cast<Index>(means_[0].size()); }
  [[nodiscard]] const AlignedArm& arm(std::size_t m) const { return *arms_[m]; }
  [[nodiscard]] View mean(std::size_t m) const { return means_[m]; }
  [[nodiscard]] const Components& log_mass() const { return rule_->log_mass(); }
  [[nodiscard]] double log_mass_isotropic() const { return rule_->log_mass_isotropic(); }

  /// log E from the shifts, within 1e-10; `out` becomes the share of each component in E. Allocates only if `out` is too
  /// small.
  double responsibilities(const std::array<Shift, 4>& w, Components& out) const;
  /// log E at a tested lambda, one row for each arm, within 1e-10.
  [[nodiscard]] double log_evidence(const Matrix& lambda) const;

 private:
  const AlignedRule* rule_;
  std::array<const AlignedArm*, 4> arms_;
  std::array<View, 4> means_;
  std::size_t size_;
};

/// A tested lambda that is kept while samples come in: only the terms of an arm that has changed are computed
/// again.
class AlignedPoint {
 public:
  AlignedPoint() = default;
  AlignedPoint(const AlignedPiece& piece, Matrix lambda);

  /// Arm m of the piece has new statistics.
  void refresh(const AlignedPiece& piece, std::size_t m);
  /// log E at lambda, and the log of what each component adds to E.
  [[nodiscard]] double value(const AlignedPiece& piece) const;
  [[nodiscard]] Components log_terms(const AlignedPiece& piece) const;
  [[nodiscard]] const Matrix& lambda() const { return lambda_; }

 private:
  Matrix lambda_, direction_;  ///< of each arm; all zero: it has none
  std::vector<Components> terms_;
};

}  // namespace linkarms
