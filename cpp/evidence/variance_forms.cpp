#include "evidence/variance_forms.hpp"

#include <algorithm>

namespace linkarms {
namespace {

/// Weights farther apart than this are brought nearer, from above: the sums of covariances stay invertible.
constexpr double most_ratio = 1e8;

[[nodiscard]] std::array<Index, 4> arms_of(const Witness& w) {
  return {w.u, w.v, w.b, w.a};
}

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

  double solve(std::span<const double> weight, std::span<double> t) override {
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
        pair_(lam_.cols()) {}

  double solve(std::span<const double> weight, std::span<double> t) override {
    const auto n = static_cast<std::size_t>(shared_ ? 3 : 4), per = weight.size() / n;
    const double least = *std::ranges::min_element(weight);
    const auto limited = [&](double x) { return std::min(x, most_ratio * least); };
    std::array<QuadraticArm, 4> arms;
    for (std::size_t i = 0; i < n; ++i) {
      arms[i] = {samples_.mean(arms_[i]), &shapes_[i]->covariance, 2.0 * limited(weight[i * per])};
      if (per == 1) continue;
      scaled_[i] = Matrix(lam_.cols(), lam_.cols());
      for (Index k = 0; k < lam_.cols(); ++k) {
        scaled_[i](k, k) =
            shapes_[i]->units[static_cast<std::size_t>(k)] / (2.0 * limited(weight[i * per + static_cast<std::size_t>(k)]));
      }
      arms[i].covariance = &scaled_[i];
      arms[i].weight = 1.0;
    }
    const double cost = pair_.solve({arms[0], arms[1], shared_ ? arms[0] : arms[3], arms[2]}, shared_);
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
  std::array<Matrix, 4> scaled_;
  QuadraticPair pair_;
};

}  // namespace

std::unique_ptr<VarianceForms> make_variance_forms(const Samples& samples, const Witness& w,
                                                   const std::array<const ArmShape*, 4>& shapes) {
  if (samples.model().variances() == Variances::separate) return std::make_unique<RoundForms>(samples, w, shapes);
  return std::make_unique<EllipticForms>(samples, w, shapes);
}

}  // namespace linkarms
