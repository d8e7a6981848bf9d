#include "pair/vector.hpp"

#include <algorithm>
#include <cmath>

#include "family/dominating_variance.hpp"
#include "math/constants.hpp"

namespace linkarms {

namespace {

/// How roughly the spread of an arm that is not Gaussian may be found.
constexpr double rough = 0.02;

}  // namespace

VectorPairs::VectorPairs(const Model& model) : model_(&model), dominating_(model) {
  if (dominating_.basis().cols() == 2) angles_.emplace(dominating_.basis());
}

Bounds VectorPairs::bounds(const MovingArms& arms, double level) {
  Bounds found = dominating_.solve(arms, level);
  best_ = dominating_.point();
  bool separable = true;
  for (Index i = 0; i < arms.size(); ++i) separable = separable && !arms[i].arm->has_covariance();
  if (angles_ && separable && found.lower < level && found.upper > 0.0 && found.lower < found.upper * (1.0 - angle_gap)) {
    found = angles_->narrow(arms, found, level, best_);
  }
  return {std::min(found.lower, found.upper), found.upper};
}

double VectorPairs::bound(const Weighted& at, const Witness& w, double level) {
  return bounds(MovingArms(*model_, at, w), level).lower;
}

double VectorPairs::cost(const Weighted& at, const Witness& w, double level) {
  // the search is certified to 3e-8: only what is further above the level is above it wherever the search
  // looks
  const double reject = level * (1.0 + 1e-7);
  // a gap that is little more than the rounding of the estimates is known to no relative precision: then there
  // is one answer for all levels
  double scale = 0.0;
  for (const Index m : {w.u, w.v, w.a, w.b}) {
    for (const double x : at.theta.row(m)) scale = std::max(scale, std::abs(x));
  }
  if (level == inf || at.dist(w.a, w.b) - at.dist(w.u, w.v) <= 1e-7 * scale) return bound(at, w, inf);
  const double value = bound(at, w, reject);
  return value > reject ? value : bound(at, w, inf);
}

void VectorPairs::solve(const Weighted& at, const Witness& w, Matrix& lam) {
  const MovingArms arms(*model_, at, w);
  const Bounds found = bounds(arms, inf);
  const Matrix& goal = found.lower >= found.upper * (1.0 - 1e-6) ? best_ : dominating_.aim();
  for (Index i = 0; i < arms.size(); ++i) std::ranges::copy(goal.row(i), lam.row(arms.index(i)).begin());
}

double VectorPairs::spread(Index m, View theta, double weight, double level) const {
  const Arm& arm = model_->arm(m);
  if (arm.has_covariance()) return arm.covariance().largest_variance / weight;
  if (level < 0.0) return 1.0 / (arm.fisher(theta) * weight);
  double largest = 0.0;
  if (arm.is_categorical()) {
    // on the segment the curvature is at least p_i / upper_i^2; Pinsker: KL >= |x - p|^2 always
    for (const double p : theta) {
      const double upper = std::max(bernoulli_upper(p, level / weight), p);
      largest = std::max(largest, p > 0.0 ? upper * upper / p : inf);
    }
    return std::min(largest * (1.0 + 1e-9), 0.5) / weight;
  }
  for (std::size_t i = 0; i < theta.size(); ++i) {
    largest = std::max(largest, dominating_variance(arm.coordinates()[i], theta[i], level / weight, rough));
  }
  return largest / weight;
}

}  // namespace linkarms
