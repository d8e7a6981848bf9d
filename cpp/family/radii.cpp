#include "family/radii.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

namespace linkarms {

namespace {

/// The weight, in samples, of the mixture's prior.
constexpr double prior_samples = 5.0;
constexpr int halvings = 50;

double norm(View x) {
  double total = 0.0;
  for (const double v : x) total += v * v;
  return std::sqrt(total);
}

Domain domain_of(const Arm& arm, std::size_t i) {
  if (arm.has_coordinates()) return domain(arm.coordinates()[i]);
  return arm.is_categorical() ? Domain::unit : Domain::line;
}

/// A ray from the estimate of one arm, along which the evidence rises.
class Ray {
 public:
  Ray(const Arm& arm, double n, View mean, View center, View direction)
      : arm_(arm), n_(n), mean_(mean), center_(center), step_(direction.begin(), direction.end()), point_(step_.size()) {
    if (!arm.is_categorical()) return;
    double total = 0.0;
    for (const double x : step_) total += x;
    for (double& x : step_) x -= total / static_cast<double>(step_.size());  // stay where probabilities add up to one
  }

  /// How far one can go until the evidence reaches the level, or to the end of the domain.
  [[nodiscard]] double radius(double level) {
    const double most = end();
    if (!(most > 0.0)) return 0.0;
    double low = 0.0, high = std::min(1.0, most);
    while (high < most && evidence(high) < level) {  // double until outside
      low = high;
      high = std::min(2.0 * high, most);
      if (high > 1e150) return inf;
    }
    for (int i = 0; i < halvings; ++i) {
      const double middle = 0.5 * (low + high);
      (evidence(middle) < level ? low : high) = middle;
    }
    return high;
  }

 private:
  /// Where the domain ends, or just inside: at its end the evidence may divide by zero. 0 for a direction
  /// that is none.
  [[nodiscard]] double end() const {
    double most = inf;
    bool moves = false;
    for (std::size_t i = 0; i < step_.size(); ++i) {
      moves = moves || std::abs(step_[i]) > 1e-12;
      if (step_[i] == 0.0) continue;
      const Domain d = domain_of(arm_, i);
      const double wall = step_[i] > 0.0 ? highest(d) : lowest(d);
      most = std::min(most, (wall - center_[i]) / step_[i] * (1.0 - 1e-9));
    }
    return moves ? most : 0.0;
  }
  [[nodiscard]] double evidence(double distance) {
    for (std::size_t i = 0; i < step_.size(); ++i) point_[i] = center_[i] + distance * step_[i];
    return arm_.log_evidence(n_, mean_, point_, prior_samples);
  }

  const Arm& arm_;
  double n_;
  View mean_, center_;
  std::vector<double> step_, point_;
};

/// Where the evidence of universal inference reaches the level, as a distance from the mean of all samples:
/// with n' predicted samples, S' their squares and r the distance from their mean,
///   sum log predictive + (n' d / 2) (log(2 pi (S' + n' r^2) / (n' d)) + 1) = level.
double unknown_radius(const Moments& own, View mean, double level) {
  if (!(own.squares > 0.0)) return inf;
  const double nd = own.predicted * static_cast<double>(mean.size());
  const double exponent = std::min(2.0 * (level - own.log_predictive) / nd - 1.0, 700.0);
  const double rest = nd / (2.0 * std::numbers::pi) * std::exp(exponent) - own.squares;
  std::vector<double> apart(own.mean);
  for (std::size_t i = 0; i < apart.size(); ++i) apart[i] -= mean[i];
  return std::sqrt(std::max(rest, 0.0) / own.predicted) + norm(apart);
}

}  // namespace

Matrix confidence_radii(const Model& model, std::span<const Index> counts, const Matrix& means, const Matrix& directions,
                        double delta, std::span<const Moments> moments) {
  const Index n_arms = model.n_arms(), d = model.n_features();
  const auto size = static_cast<std::size_t>(n_arms);
  if (counts.size() != size || means.rows() != n_arms || means.cols() != d || directions.cols() != d ||
      (!moments.empty() && moments.size() != size)) {
    throw std::invalid_argument(
        "counts, means, moments or directions have another shape than the model; give one row per arm and " + std::to_string(d) +
        " column(s)");
  }
  if (model.has_user_family()) {
    throw std::invalid_argument("a user's own family has no confidence regions; use a family that the package ships");
  }
  const bool unknown = model.variances() != Variances::known;
  const double level = std::log(n_arms / delta);
  Matrix everywhere(d, 2), radii(n_arms, directions.rows(), nan);
  for (Index i = 0; i < d; ++i) {
    everywhere(i, 0) = -inf;
    everywhere(i, 1) = inf;
  }
  std::vector<double> center(static_cast<std::size_t>(d));
  for (Index m = 0; m < n_arms; ++m) {
    const auto at = static_cast<std::size_t>(m);
    if (counts[at] == 0) continue;
    model.arm(m).estimate(means.row(m), everywhere, center);
    const double distance = unknown && !moments.empty() ? unknown_radius(moments[at], means.row(m), level) : inf;
    for (Index k = 0; k < directions.rows(); ++k) {
      const View step = directions.row(k);
      if (unknown) {
        radii(m, k) = distance / norm(step);
      } else if (std::ranges::all_of(center, [](double x) { return std::isfinite(x); })) {
        radii(m, k) = Ray(model.arm(m), counts[at], means.row(m), center, step).radius(level);
      }
    }
  }
  return radii;
}

}  // namespace linkarms
