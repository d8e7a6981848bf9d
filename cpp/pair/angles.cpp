#include "pair/angles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "pair/categorical.hpp"
#include "pair/linear.hpp"

namespace linkarms {

namespace {

/// Most directions that are looked at; the lower bound reached by then is the answer.
constexpr int most_directions = 600;
/// Most ranges that wait to be looked at.
constexpr std::size_t most_ranges = 120;

/// All directions within `alpha` of `angle`, and a lower bound of the cost in them.
struct Range {
  double angle, alpha, bound;
};

}  // namespace

AngleSearch::AngleSearch(Matrix basis) : basis_(std::move(basis)), point_(4, basis_.rows()), kappa_(4, basis_.rows()) {}

/// The minimum of the cost under sum_m kappa_m . lambda_m >= 0.
double AngleSearch::linear_bound(const MovingArms& arms, double level) {
  if (arms[0].arm->is_categorical()) return categorical_cost(arms, kappa_, level, mu_, point_);
  std::array<Number, most_numbers> numbers;
  const Index d = point_.cols();
  for (Index i = 0; i < arms.size(); ++i) {
    for (Index k = 0; k < d; ++k) {
      numbers[i * d + k] = {
          .theta = arms[i].theta[k], .weight = arms[i].weight, .kappa = kappa_(i, k), .kind = &arms[i].arm->coordinates()[k]};
    }
  }
  const double value = linear_cost(std::span(numbers).first(arms.size() * d), level);
  for (Index i = 0; i < arms.size(); ++i) {
    for (Index k = 0; k < d; ++k) point_(i, k) = numbers[i * d + k].lam;
  }
  return value;
}

/// The direction of the inter pair where the arms are at the rows of a point, as an angle in the basis; nothing
/// where they meet.
std::optional<double> AngleSearch::inter_angle(View a, View b) const {
  double x = 0.0, y = 0.0;
  for (Index k = 0; k < basis_.rows(); ++k) {
    x += (a[k] - b[k]) * basis_(k, 0);
    y += (a[k] - b[k]) * basis_(k, 1);
  }
  if (x == 0.0 && y == 0.0) return std::nullopt;
  return std::atan2(y, x);
}

/// A lower bound over all directions within `alpha` of `angle`. The best h is the one that lambda_a - lambda_b
/// has then: how far that is turned from h has a root there, which the secant finds.
double AngleSearch::range_bound(const MovingArms& arms, double angle, double alpha, double level) {
  const Index d = point_.cols(), a = arms.a(), b = MovingArms::b;
  const double shrink = std::cos(alpha);
  double h = *inter_angle(arms[a].theta, arms[b].theta);
  double best = 0.0, h_before = 0.0, turned_before = 0.0;
  for (int turn = 0; turn < 40; ++turn) {
    for (Index k = 0; k < d; ++k) {
      const double intra = std::cos(angle) * basis_(k, 0) + std::sin(angle) * basis_(k, 1);
      const double inter = shrink * (std::cos(h) * basis_(k, 0) + std::sin(h) * basis_(k, 1));
      kappa_(MovingArms::u, k) = intra;
      kappa_(MovingArms::v, k) = -intra;
      kappa_(b, k) = inter;
      if (arms.shared()) {
        kappa_(MovingArms::u, k) -= inter;
      } else {
        kappa_(a, k) = -inter;
      }
    }
    best = std::max(best, linear_bound(arms, level));
    if (best >= level) break;
    const auto found = inter_angle(point_.row(a), point_.row(b));
    if (!found) break;
    const double turned = std::remainder(*found - h, 2.0 * std::numbers::pi);
    if (std::abs(turned) <= 1e-9) break;
    const double secant = -turned * (h - h_before) / (turned - turned_before);
    const bool good = turn > 0 && secant * turned > 0.0 && std::abs(secant) <= 4.0 * std::abs(turned);
    h_before = std::exchange(h, h + (good ? secant : 0.5 * turned));
    turned_before = turned;
  }
  return best;
}

/// Bring the inter pair of `point_` as near as the intra pair is long, so that it is feasible, and return its
/// cost.
double AngleSearch::repaired_cost(const MovingArms& arms) {
  const Index d = point_.cols(), a = arms.a(), b = MovingArms::b;
  double have = 0.0, need = 0.0;
  for (Index k = 0; k < d; ++k) {
    const double p = point_(MovingArms::u, k) - point_(MovingArms::v, k), q = point_(a, k) - point_(b, k);
    have += p * p;
    need += q * q;
  }
  have = std::sqrt(have), need = std::sqrt(need);
  if (need > have) {
    const double t = have / need;
    for (Index k = 0; k < d; ++k) {
      const double q = point_(a, k) - point_(b, k);
      if (arms.shared()) {
        point_(b, k) = point_(a, k) - t * q;
      } else {
        const double centre = 0.5 * (point_(b, k) + point_(a, k));
        point_(a, k) = centre + 0.5 * t * q;
        point_(b, k) = centre - 0.5 * t * q;
      }
    }
  }
  return arms.cost(point_);
}

Bounds AngleSearch::narrow(const MovingArms& arms, Bounds bounds, double level, Matrix& best) {
  mu_ = 0.0;
  const double floor = bounds.lower;
  double upper = bounds.upper, lower = inf;
  const auto enough = [&] { return std::min(upper * (1.0 - angle_gap), level); };
  std::array<Range, most_ranges + 2> ranges;
  std::size_t count = 8;
  for (std::size_t i = 0; i < count; ++i) {
    ranges[i] = {static_cast<double>(i) * std::numbers::pi / 4.0, std::numbers::pi / 8.0, floor};
  }
  for (int turn = 0; count > 0; ++turn) {
    // the range with the smallest bound comes first: were the directions used up in another, this one would
    // decide
    Range& lowest = *std::ranges::min_element(ranges.begin(), ranges.begin() + count, {}, &Range::bound);
    auto [angle, alpha, bound] = lowest;
    lowest = ranges[--count];
    const double wanted = enough();
    if (bound < wanted && turn < most_directions && count < most_ranges) {
      bound = std::max(bound, range_bound(arms, angle, alpha, wanted));
      if (bound < wanted) {
        const double cost = repaired_cost(arms);
        if (cost < upper) {
          upper = cost;
          best = point_;
        }
        if (bound < enough()) {
          ranges[count++] = {angle - alpha / 2.0, alpha / 2.0, bound};
          ranges[count++] = {angle + alpha / 2.0, alpha / 2.0, bound};
          continue;
        }
      }
    }
    lower = std::min(lower, bound);
  }
  return {std::min(std::max(lower, floor), upper), upper};
}

}  // namespace linkarms
