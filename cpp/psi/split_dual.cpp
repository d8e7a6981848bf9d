#include "psi/split_dual.hpp"

#include <cmath>
#include <utility>

#include "math/constants.hpp"
#include "psi/lagrangian.hpp"

namespace linkarms {
namespace {

/// A pair is long enough where its square lacks less than this share of that of the inter pair; looser on the
/// way along tau.
constexpr double slack = 1e-13, loose = 1e-6;
/// Most steps of one climb, most halvings of one step, how often tau is divided by ten.
constexpr int turns = 200, halvings = 60, phases = 9;

/// The multipliers to move next: those that are not zero, then the most wanted of the others.
struct Free {
  std::vector<Index> which;
  bool new_one = false;  ///< the last one was zero
  bool done = true;      ///< nothing is left to do
};

Free choose_free(View mu, View slope, double tolerance) {
  Free free;
  Index worst = -1;
  for (Index i = 0; i < static_cast<Index>(mu.size()); ++i) {
    if (mu[i] > 0.0) {
      free.which.push_back(i);
      free.done = free.done && std::abs(slope[i]) <= tolerance;
    } else if (slope[i] > tolerance) {
      free.done = false;
      if (worst < 0 || slope[i] > slope[worst]) worst = i;
    }
  }
  free.new_one = worst >= 0;
  if (free.new_one) free.which.push_back(worst);
  return free;
}

/// The maximisation of D + tau log det A for one tau after another.
class DualAscent {
 public:
  DualAscent(const SplitArms& split, std::vector<double> mu)
      : split_(split), here_(split), there_(split), mu_(std::move(mu)), slope_(mu_.size()), trial_(mu_.size()) {}

  /// Newton's method on the multipliers that are not zero. Leaves D(mu), not the sum, in value().
  AscentEnd maximise(double level, double tau, double tolerance) {
    value_ = here_.evaluate(mu_);
    for (int i = 0; i < halvings && !(value_ > -inf); ++i) {
      scale_mu(0.5);
      value_ = here_.evaluate(mu_);
    }
    if (!(value_ > -inf)) {  // not even the covariances are definite but for rounding
      scale_mu(0.0);
      value_ = 0.0;
      lambda_ = split_.theta;
      return AscentEnd::edge;
    }
    lambda_ = here_.lambda();
    int tiny_steps = 0;
    for (int turn = 0; turn < turns; ++turn) {
      if (value_ >= level) return AscentEnd::reached;
      double height = value_;
      if (tau > 0.0) {
        height += tau * here_.log_det();
        here_.invert();
      }
      here_.slope(tau, slope_);
      const Free free = choose_free(mu_, slope_, tolerance * here_.inter_square() + 1e-300);
      if (free.done) return AscentEnd::solved;
      const auto [top, shortened] = step(free, tau, height);
      if (top == -inf) return AscentEnd::edge;
      tiny_steps = top - height <= 1e-14 * std::abs(height) && shortened ? tiny_steps + 1 : 0;
      if (tiny_steps > 3) return AscentEnd::edge;
    }
    return AscentEnd::edge;
  }

  void scale_mu(double factor) {
    for (double& x : mu_) x *= factor;
  }
  [[nodiscard]] double value() const { return value_; }
  [[nodiscard]] const std::vector<double>& mu() const { return mu_; }
  [[nodiscard]] const std::vector<double>& lambda() const { return lambda_; }

 private:
  /// One Newton step, shortened until it climbs. Returns the new height, -infinity if there is none, and
  /// whether it was shortened.
  std::pair<double, bool> step(const Free& free, double tau, double height) {
    std::size_t count = free.which.size();
    const Matrix hessian = here_.curvature(free.which, tau);
    std::vector<double> move = newton(hessian, free, count);
    if (free.new_one && count > 1 && move.back() <= 0.0)
      move = newton(hessian, free, --count);  // it waits until the others settle
    // As far as the first multiplier that becomes zero.
    double most = 1.0;
    Index stop = -1;
    for (std::size_t i = 0; i < count; ++i) {
      const double reach = -mu_[free.which[i]] / move[i];
      if (move[i] < 0.0 && reach < most) {
        most = reach;
        stop = free.which[i];
      }
    }
    double t = most;
    for (int i = 0; i < halvings; ++i, t *= 0.5) {
      double gain = 0.0;
      trial_ = mu_;
      for (std::size_t j = 0; j < count; ++j) {
        const Index k = free.which[j];
        trial_[k] = std::max(mu_[k] + t * move[j], 0.0);
        gain += t * move[j] * slope_[k];
      }
      if (stop >= 0 && t == most) trial_[stop] = 0.0;
      const double found = there_.evaluate(trial_);
      double top = found;
      if (tau > 0.0 && found > -inf) top += tau * there_.log_det();
      if (top >= height + 1e-4 * gain - 1e-15 * std::abs(height)) {
        value_ = found;
        std::swap(mu_, trial_);
        std::swap(here_, there_);
        lambda_ = here_.lambda();
        return {top, t < most};
      }
    }
    return {-inf, true};
  }

  [[nodiscard]] std::vector<double> newton(const Matrix& hessian, const Free& free, std::size_t count) const {
    std::vector<double> move(count);
    for (std::size_t i = 0; i < count; ++i) move[i] = slope_[free.which[i]];
    newton_step(hessian, move);
    return move;
  }

  const SplitArms& split_;
  Lagrangian here_, there_;
  std::vector<double> mu_, slope_, trial_, lambda_;
  double value_ = 0.0;
};

}  // namespace

Ascent ascend(const SplitArms& split, std::vector<double> mu, double level) {
  DualAscent ascent(split, std::move(mu));
  AscentEnd end = ascent.maximise(level, 0.0, slack);
  double best = ascent.value();
  if (end == AscentEnd::edge && split.u.size() > 1) {  // (with one pair the maximum lies at the edge)
    double tau = best / split.n;
    for (int phase = 0; phase <= phases && end != AscentEnd::reached; ++phase) {
      const bool last = phase == phases;
      if (!last) {
        tau *= 0.1;
        ascent.scale_mu(0.999);
      }
      end = ascent.maximise(level, last ? 0.0 : tau, last ? slack : loose);
      best = std::max(best, ascent.value());
    }
  }
  return {best, end, ascent.mu(), ascent.lambda()};
}

}  // namespace linkarms
