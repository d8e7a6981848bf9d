#include "evidence/variance_forms.hpp"

#include <algorithm>

#include "pair/quadratic_two_arms.hpp"

namespace linkarms {
namespace {

/// Weights farther apart than this are brought nearer, from above: the sums of covariances stay invertible.
constexpr double most_ratio = 1e8;

[[nodiscard]] std::array<Index, 4> arms_of(const Witness& w) {
  return {w.u, w.v, w.b, w.a};
}

/// Arms as the solvers for covariances take them: `weight` t_k of each are weight (x - theta)' covariance^-1 (x - theta) / 2.
class QuadraticArms {
 public:
  QuadraticArms(const Samples& samples, std::span<const Index> arms, const std::array<const ArmShape*, 4>& shapes)
      : samples_(samples), arms_(arms), shapes_(shapes) {}

  void set(std::span<const double> weight) {
    const std::size_t per = weight.size() / arms_.size();
    const Index d = samples_.means().cols();
    const double least = *std::ranges::min_element(weight);
    const auto limited = [&](double x) { return std::min(x, most_ratio * least); };
    for (std::size_t i = 0; i < arms_.size(); ++i) {
      quadratic_[i] = {samples_.mean(arms_[i]), &shapes_[i]->covariance, 2.0 * limited(weight[i * per])};
      if (shapes_[i]->covariance.rows() > 0) continue;
      scaled_[i] = Matrix(d, d);
      for (Index k = 0; k < d; ++k) {
        const std::size_t at = per > 1 ? static_cast<std::size_t>(k) : 0;
        scaled_[i](k, k) = shapes_[i]->units[at] / (2.0 * limited(weight[i * per + at]));
      }
      quadratic_[i].covariance = &scaled_[i];
      quadratic_[i].weight = 1.0;
    }
  }
  [[nodiscard]] const QuadraticArm& operator[](std::size_t i) const { return quadratic_[i]; }

 private:
  const Samples& samples_;
  std::span<const Index> arms_;
  std::array<const ArmShape*, 4> shapes_;
  std::array<Matrix, 4> scaled_;
  std::array<QuadraticArm, 4> quadratic_{};
};

/// One t per arm, |D|^2 / unit: closed forms.
class RoundForms final : public VarianceForms {
 public:
  RoundForms(const Samples& samples, const Witness& w, const std::array<const ArmShape*, 4>& shapes)
      : VarianceForms(samples.means().cols()), count_(w.shared() ? 3 : 4), theta_(4, lam_.cols()), dist_(4) {
    const auto arms = arms_of(w);
    for (std::size_t i = 0; i < count_; ++i) {
      std::ranges::copy(samples.mean(arms[i]), theta_.row(static_cast<Index>(i)).begin());
      unit_[i] = shapes[i]->units[0];
    }
    dist_ = Distances(theta_);
    witness_ = {0, 1, w.shared() ? 0 : 3, 2};
  }

  double solve_at(std::span<const double> weight, std::span<double> t) override {
    for (std::size_t i = 0; i < count_; ++i) spread_[i] = unit_[i] / (2.0 * weight[i]);
    lam_ = theta_;
    isotropic_solution(theta_, dist_, spread_, witness_, lam_);
    for (std::size_t i = 0; i < count_; ++i) {
      const auto row = static_cast<Index>(i);
      double square = 0.0;
      for (Index k = 0; k < lam_.cols(); ++k) square += (lam_(row, k) - theta_(row, k)) * (lam_(row, k) - theta_(row, k));
      t[i] = square / unit_[i];
    }
    return isotropic_cost(dist_, spread_, witness_);
  }

 private:
  std::size_t count_;
  Matrix theta_;
  Distances dist_;
  Witness witness_;
  std::array<double, 4> unit_{}, spread_{};
};

/// A covariance per arm, or a variance per coordinate: eigenvalue problems.
class EllipticForms final : public VarianceForms {
 public:
  EllipticForms(const Samples& samples, const Witness& w, const std::array<const ArmShape*, 4>& shapes)
      : VarianceForms(samples.means().cols()),
        shared_(w.shared()),
        samples_(samples),
        arms_(arms_of(w)),
        shapes_(shapes),
        quadratic_(samples, std::span(arms_).first(shared_ ? 3 : 4), shapes),
        pair_(lam_.cols()) {}

  double solve_at(std::span<const double> weight, std::span<double> t) override {
    const auto n = static_cast<std::size_t>(shared_ ? 3 : 4), per = weight.size() / n;
    quadratic_.set(weight);
    const double cost =
        pair_.solve({quadratic_[0], quadratic_[1], shared_ ? quadratic_[0] : quadratic_[3], quadratic_[2]}, shared_);
    constexpr std::array<Index, 4> row_of{0, 1, 3, 2};  // of u, v, b, a in the pair's u, v, a, b
    for (std::size_t i = 0; i < n; ++i) {
      const auto row = static_cast<Index>(i);
      const View mean = samples_.mean(arms_[i]);
      for (Index k = 0; k < lam_.cols(); ++k) lam_(row, k) = mean[static_cast<std::size_t>(k)] + pair_.shift()(row_of[i], k);
      shapes_[i]->forms(mean, lam_.row(row), t.subspan(i * per, per));
    }
    return cost;
  }

 private:
  bool shared_;
  const Samples& samples_;
  std::array<Index, 4> arms_;
  std::array<const ArmShape*, 4> shapes_;
  QuadraticArms quadratic_;
  QuadraticPair pair_;
};

/// With a tolerance: min sum_i weight_i x_i^2 / unit_i subject to sum_i kappa_i x_i >= gap.
class DistanceForms final : public VarianceForms {
 public:
  DistanceForms(const Samples& samples, const Distances& stretched, const Witness& w,
                const std::array<const ArmShape*, 4>& shapes)
      : VarianceForms(samples.means().cols()),
        count_(w.shared() ? 3 : 4),
        gap_(std::max(stretched(w.a, w.b) - stretched(w.u, w.v), 0.0)),
        theta_(4, lam_.cols()) {
    const auto arms = arms_of(w);
    for (std::size_t i = 0; i < count_; ++i) {
      std::ranges::copy(samples.mean(arms[i]), theta_.row(static_cast<Index>(i)).begin());
      unit_[i] = shapes[i]->units[0];
      kappa_[i] = w.shared() && i == 0 ? 2.0 : 1.0;
    }
  }

  double solve_at(std::span<const double> weight, std::span<double> t) override {
    double total = 0.0;
    for (std::size_t i = 0; i < count_; ++i) total += kappa_[i] * kappa_[i] * unit_[i] / weight[i];
    lam_ = theta_;
    for (std::size_t i = 0; i < count_; ++i) {
      const double x = gap_ * kappa_[i] * unit_[i] / (weight[i] * total);
      lam_(static_cast<Index>(i), 0) += x;  // in which direction does not matter
      t[i] = x * x / unit_[i];
    }
    return gap_ * gap_ / total;
  }

  void renew(std::span<double> t) const override {
    double reach = 0.0;
    for (std::size_t i = 0; i < count_; ++i) reach += kappa_[i] * std::sqrt(t[i] * unit_[i]);
    const double factor = reach > 0.0 ? gap_ / reach : inf;
    for (double& x : t) x *= factor * factor;
  }

 private:
  std::size_t count_;
  double gap_;
  Matrix theta_;
  std::array<double, 4> unit_{}, kappa_{};
};

/// Two arms under a distance threshold.
class TwoArmForms final : public VarianceForms {
 public:
  TwoArmForms(const Samples& samples, const Limits& limits, const Witness& w, const std::array<const ArmShape*, 4>& shapes)
      : VarianceForms(samples.means().cols()),
        samples_(samples),
        arms_{TwoArms(w).first, TwoArms(w).second},
        shapes_(shapes),
        apart_(w.is_merge() ? Apart::at_most : Apart::at_least),
        distance_(w.is_merge() ? limits.merge : limits.split),
        quadratic_(samples, arms_, shapes),
        pair_(lam_.cols()) {}

  double solve_at(std::span<const double> weight, std::span<double> t) override {
    quadratic_.set(weight);
    const double cost = pair_.solve(quadratic_[0], quadratic_[1], apart_, distance_);
    const std::size_t per = weight.size() / 2;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto row = static_cast<Index>(i);
      const View mean = samples_.mean(arms_[i]);
      for (Index k = 0; k < lam_.cols(); ++k) lam_(row, k) = mean[static_cast<std::size_t>(k)] + pair_.shift()(row, k);
      shapes_[i]->forms(mean, lam_.row(row), t.subspan(i * per, per));
    }
    return cost;
  }

 private:
  const Samples& samples_;
  std::array<Index, 2> arms_;
  std::array<const ArmShape*, 4> shapes_;
  Apart apart_;
  double distance_;
  QuadraticArms quadratic_;
  QuadraticTwoArms pair_;
};

}  // namespace

std::unique_ptr<VarianceForms> make_variance_forms(const Samples& samples, const Witness& w,
                                                   const std::array<const ArmShape*, 4>& shapes) {
  if (samples.model().variances() == Variances::separate) return std::make_unique<RoundForms>(samples, w, shapes);
  return std::make_unique<EllipticForms>(samples, w, shapes);
}

std::unique_ptr<VarianceForms> make_distance_forms(const Samples& samples, const Distances& stretched, const Witness& w,
                                                   const std::array<const ArmShape*, 4>& shapes) {
  return std::make_unique<DistanceForms>(samples, stretched, w, shapes);
}

std::unique_ptr<VarianceForms> make_two_arm_forms(const Samples& samples, const Limits& limits, const Witness& w,
                                                  const std::array<const ArmShape*, 4>& shapes) {
  return std::make_unique<TwoArmForms>(samples, limits, w, shapes);
}

}  // namespace linkarms
