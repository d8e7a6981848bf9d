#include "family/confidence_radii.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "family/variance_shape.hpp"

namespace linkarms {

namespace {

/// The weight, in samples, of the mixture's prior.
constexpr double prior_samples = 5.0;
/// The same where the variance is unknown: few samples need a small one, or their evidence levels off too soon.
constexpr std::array unknown_priors{0.2, 1.0, 5.0};
constexpr int halvings = 50;

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

/// Where the evidence of an arm of unknown variance reaches the level along `step`: from sum_k rise(s^2 t_k), t_k
/// the forms of the step itself. Rounded outwards.
double unknown_radius(const Model& model, double n, const Moments& own, View mean, View step, double level) {
  const Index d = model.n_features();
  const ArmShape shape(model.variances(), d, n, own);
  if (shape.flat) return inf;
  std::vector<double> end(mean.begin(), mean.end()), t(forms_per_arm(model));
  for (std::size_t i = 0; i < end.size(); ++i) end[i] += step[i];
  shape.forms(mean, end, t);
  double nearest = inf;
  for (const double c : unknown_priors) {  // the average over them is at least each, less log J
    const ArmMixture mixture(shape, model.variances(), d, n, c, false);
    const double needed = level + std::log(static_cast<double>(unknown_priors.size()));
    double most = inf, least = 0.0;  // of s: where one t alone has reached it; where all together cannot have
    for (const double x : t) most = std::min(most, std::sqrt(mixture.rise.reach(needed + mixture.price) / x));
    while (t.size() > 1 && most < inf && most - least > 1e-3 * most) {
      const double s = 0.5 * (least + most);
      double total = -mixture.price;
      for (const double x : t) total += mixture.rise.rise(s * s * x);
      (total < needed ? least : most) = s;
    }
    nearest = std::min(nearest, most);
  }
  return nearest;
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
    for (Index k = 0; k < directions.rows(); ++k) {
      const View step = directions.row(k);
      if (unknown) {
        radii(m, k) = moments.empty() ? inf : unknown_radius(model, counts[at], moments[at], means.row(m), step, level);
      } else if (std::ranges::all_of(center, [](double x) { return std::isfinite(x); })) {
        radii(m, k) = Ray(model.arm(m), counts[at], means.row(m), center, step).radius(level);
      }
    }
  }
  return radii;
}

}  // namespace linkarms
