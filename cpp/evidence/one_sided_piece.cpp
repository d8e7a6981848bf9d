#include "evidence/one_sided_piece.hpp"

#include <algorithm>
#include <cmath>

#include "math/constants.hpp"
#include "math/shares.hpp"

namespace linkarms {

// On the edge of the constraint, where independent Gaussian arms would go; arms that would leave their domain stop near its
// end, and the others go further.
OneSidedSearch::Four OneSidedSearch::start() const {
  Four at{};
  std::array<bool, 4> free{};
  for (std::size_t m = 0; m < arms_.size(); ++m) {
    at[m] = arms_[m].arm->centre();
    free[m] = true;
  }
  for (std::size_t turn = 0; turn < arms_.size(); ++turn) {
    double lack = 0.0, spread = 0.0;
    for (std::size_t m = 0; m < arms_.size(); ++m) {
      lack -= arms_[m].kappa * at[m];
      if (free[m]) spread += arms_[m].kappa * arms_[m].kappa * arms_[m].arm->variance();
    }
    if (!(spread > 0.0)) break;
    bool inside = true;
    for (std::size_t m = 0; m < arms_.size(); ++m) {
      if (!free[m]) continue;
      const double to = at[m] + arms_[m].kappa * arms_[m].arm->variance() * lack / spread;
      const double high = arms_[m].arm->highest();
      if (to > 0.0 && to < high) continue;
      at[m] = to <= 0.0 ? 0.1 * at[m] : high - 0.1 * (high - at[m]);
      free[m] = inside = false;
    }
    if (!inside) continue;
    for (std::size_t m = 0; m < arms_.size(); ++m) {
      if (free[m]) at[m] += arms_[m].kappa * arms_[m].arm->variance() * lack / spread;
    }
    return at;
  }
  // equal parameters are on the edge, too: the kappa add up to 0
  double total = 0.0;
  for (const PushedArm& x : arms_) total += x.arm->centre();
  at.fill(total / static_cast<double>(arms_.size()));
  return at;
}

void OneSidedSearch::evaluate(Point& point) {
  const std::size_t n = arms_.size();
  share_.assign(prior_->components(), log_mass_);
  for (std::size_t m = 0; m < n; ++m) {
    arms_[m].arm->terms(*prior_, arms_[m].side(), point.at[m], terms_[m]);
    for (std::size_t j = 0; j < share_.size(); ++j) share_[j] += terms_[m].value[j];
  }
  point.value = to_shares(share_);
  point.gradient = {};
  point.curvature = {};
  for (std::size_t m = 0; m < n; ++m) {
    for (std::size_t j = 0; j < share_.size(); ++j) {
      point.gradient[m] += share_[j] * terms_[m].slope[j];
      point.curvature[m][m] += share_[j] * terms_[m].curvature[j];
    }
  }
  for (std::size_t m = 0; m < n; ++m) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t j = 0; j < share_.size(); ++j) {
        point.curvature[m][k] += share_[j] * (terms_[m].slope[j] - point.gradient[m]) * (terms_[k].slope[j] - point.gradient[k]);
      }
    }
    // where log E is flat a step would have no end
    point.curvature[m][m] += 1e-10 * point.curvature[m][m] + 1e-8 / arms_[m].arm->variance();
  }
}

// curvature * by = mu kappa - gradient among the arms that are free, sum kappa by = 0.
OneSidedSearch::Step OneSidedSearch::newton_step(const Point& point, const std::array<bool, 4>& free) const {
  const std::size_t n = arms_.size();
  std::array<Four, 4> low{};
  Four x{}, y{};  // curvature^-1 of the gradient, and of kappa
  for (std::size_t i = 0; i < n; ++i) {
    if (!free[i]) continue;
    for (std::size_t j = 0; j <= i; ++j) {
      if (!free[j]) continue;
      double sum = point.curvature[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= low[i][k] * low[j][k];
      low[i][j] = i == j ? std::sqrt(std::max(sum, 1e-14 * point.curvature[i][i])) : sum / low[j][j];
    }
  }
  const auto solve = [&](Four& b) {
    for (std::size_t i = 0; i < n; ++i) {
      if (!free[i]) continue;
      for (std::size_t k = 0; k < i; ++k) b[i] -= low[i][k] * b[k];
      b[i] /= low[i][i];
    }
    for (std::size_t i = n; i-- > 0;) {
      if (!free[i]) continue;
      for (std::size_t k = i + 1; k < n; ++k) b[i] -= low[k][i] * b[k];
      b[i] /= low[i][i];
    }
  };
  for (std::size_t m = 0; m < n; ++m) {
    x[m] = free[m] ? point.gradient[m] : 0.0;
    y[m] = free[m] ? arms_[m].kappa : 0.0;
  }
  solve(x);
  solve(y);
  double up = 0.0, down = 0.0;
  for (std::size_t m = 0; m < n; ++m) {
    up += arms_[m].kappa * x[m];
    down += arms_[m].kappa * y[m];
  }
  Step out;
  out.mu = down > 0.0 ? up / down : 0.0;
  for (std::size_t m = 0; m < n; ++m) {
    out.by[m] = out.mu * y[m] - x[m];
    out.gain -= out.by[m] * point.gradient[m];
  }
  return out;
}

// Whether an arm at an end of its domain would leave it.
bool OneSidedSearch::is_held(const Point& point, std::size_t m, double mu) const {
  const double slope = point.gradient[m] - mu * arms_[m].kappa;
  return (point.at[m] <= 0.0 && slope > 0.0) || (point.at[m] >= arms_[m].arm->highest() && slope < 0.0);
}

// Tangents on both sides of the minimum cross below it; the next tangent is where they cross. With many samples the mixture is
// close to the largest of some lines, and the minimum is where two of these meet: there, too, it ends after a few.
OneSidedSearch::Lowest OneSidedSearch::lowest_of(std::size_t m, double slope, double from) {
  const ShiftedArm& arm = *arms_[m].arm;
  struct Place {
    double x, value, slope, curvature;
  };
  const auto look = [&](double x) {
    arm.terms(*prior_, arms_[m].side(), x, one_);
    Place out{x, -slope * x, -slope, 0.0};
    for (std::size_t j = 0; j < share_.size(); ++j) {
      out.value += share_[j] * one_.value[j];
      out.slope += share_[j] * one_.slope[j];
      out.curvature += share_[j] * one_.curvature[j];
    }
    return out;
  };
  constexpr double near = 1e-4;  // how far below the minimum a bound may be
  const double low = 0.0, high = arm.highest();
  Place here = look(from);
  double size = 2.0;
  for (int turn = 0; turn < 60; ++turn) {
    if (here.slope == 0.0 || (here.x <= low && here.slope > 0.0) || (here.x >= high && here.slope < 0.0)) {
      return {here.value, here.x};
    }
    const double reach =
        std::max(std::abs(here.slope) / std::max(here.curvature, 1e-8 / arm.variance()), 1e-12 * here.x + 1e-300);
    Place there = look(std::clamp(here.x - std::copysign(size * reach, here.slope), low, high));
    if (here.slope * there.slope <= 0.0) {
      for (int again = 0;; ++again) {
        const double apart = here.slope - there.slope, best = std::min(here.value, there.value);
        if (apart == 0.0) return {best, here.x};
        const double cross = (there.value - here.value + here.slope * here.x - there.slope * there.x) / apart;
        const double x = std::clamp(cross, std::min(here.x, there.x), std::max(here.x, there.x));
        const double bound = std::min(here.value + here.slope * (x - here.x), there.value + there.slope * (x - there.x));
        if (best - bound <= near || again == 60 || x == here.x || x == there.x) return {bound, x};
        const Place middle = look(x);
        (middle.slope * here.slope > 0.0 ? here : there) = middle;
      }
    }
    here = there;
    size *= 2.0;
  }
  return {-inf, here.x};
}

// share_ are those of the point; where the arms are smallest is in `at`.
OneSidedSearch::Dual OneSidedSearch::dual(const Four& from, double mu) {
  Dual out{mu};
  for (const double g : share_) {
    if (g > 0.0) out.value += g * (log_mass_ - std::log(g));
  }
  for (std::size_t m = 0; m < arms_.size(); ++m) {
    const Lowest found = lowest_of(m, mu * arms_[m].kappa, from[m]);
    out.value += found.value;
    out.at[m] = found.at;
    out.residual += arms_[m].kappa * found.at;
  }
  return out;
}

// The dual is concave in the multiplier, and minus the residual is its slope: tangents again.
OneSidedSearch::Dual OneSidedSearch::raise(Dual low) {
  constexpr double near = 1e-3;
  Dual best = low, high = low;
  for (int turn = 0; turn < 60 && low.residual >= 0.0 && low.mu > 0.0; ++turn) {
    high = low;
    low = dual(high.at, turn < 50 ? 0.5 * high.mu : 0.0);
    if (low.value > best.value) best = low;
  }
  for (int turn = 0; turn < 60 && high.residual < 0.0; ++turn) {
    low = high;
    high = dual(low.at, 2.0 * low.mu + 1e-300);
    if (high.value > best.value) best = high;
  }
  for (int turn = 0; turn < 60 && low.residual < 0.0 && high.residual > 0.0; ++turn) {
    const double apart = high.residual - low.residual;
    const double mu = (high.value - low.value + high.residual * high.mu - low.residual * low.mu) / apart;
    if (!(low.mu < mu && mu < high.mu) || low.value - low.residual * (mu - low.mu) - best.value <= near) break;
    const Dual middle = dual(best.at, mu);
    if (middle.value > best.value) best = middle;
    (middle.residual < 0.0 ? low : high) = middle;
  }
  return best;
}

OneSidedInfimum OneSidedSearch::infimum(const ShiftPrior& prior, std::span<const PushedArm> arms, double log_mass,
                                        double too_little) {
  prior_ = &prior;
  arms_ = arms;
  log_mass_ = log_mass;
  Point here;
  here.at = start();
  evaluate(here);
  Step step;
  for (int turn = 0; turn < 60; ++turn) {
    if (here.value < too_little) return {-inf, here.value, here.at};
    std::array<bool, 4> free{};
    for (std::size_t m = 0; m < arms.size(); ++m) free[m] = here.at[m] > 0.0 && here.at[m] < arms[m].arm->highest();
    step = newton_step(here, free);
    bool released = false;
    for (std::size_t m = 0; m < arms.size(); ++m) {
      if (!free[m] && !is_held(here, m, step.mu)) free[m] = released = true;
    }
    if (released) step = newton_step(here, free);
    if (!(step.gain > 1e-7)) break;
    double size = 1.0;
    for (std::size_t m = 0; m < arms.size(); ++m) {
      const double high = arms[m].arm->highest(), by = step.by[m];
      if (by < 0.0) size = std::min(size, here.at[m] / -by);
      if (by > 0.0) size = std::min(size, (high - here.at[m]) / by);
    }
    if (!(size > 0.0)) break;
    Point next;
    for (;; size *= 0.5) {
      for (std::size_t m = 0; m < arms.size(); ++m) {
        next.at[m] = std::clamp(here.at[m] + size * step.by[m], 0.0, arms[m].arm->highest());
      }
      evaluate(next);
      if (next.value <= here.value - 0.1 * size * step.gain || size < 1e-8) break;
    }
    if (!(next.value < here.value)) {
      evaluate(here);  // the shares belong to the last place that was tried
      break;
    }
    here = next;
  }
  Dual found = dual(here.at, std::max(step.mu, 0.0));
  double lower = found.value;
  // where the search did not end at the minimum: the best multiplier, and the shares of where it leads
  for (int turn = 0; turn < 4 && here.value - lower > 0.01; ++turn) {
    found = raise(found);
    lower = std::max(lower, found.value);
    Point next;
    next.at = found.at;
    evaluate(next);
    found = dual(next.at, found.mu);
    lower = std::max(lower, found.value);
  }
  return {lower, here.value, here.at};
}

}  // namespace linkarms
