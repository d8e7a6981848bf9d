#include "pair/angles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "pair/categorical.hpp"
#include "pair/linear.hpp"

namespace linkarms {

namespace {

/// Most directions that are looked at; the lower bound reached by then is the answer.
constexpr int most_directions = 600;
/// Most ranges that wait to be looked at.
constexpr std::size_t most_ranges = 120;

double norm(View x) {
  double squares = 0.0;
  for (const double y : x) squares += y * y;
  return std::sqrt(squares);
}

/// All directions within `alpha` of `angle`, and a lower bound of the cost in them.
struct Range {
  double angle, alpha, bound;
};

}  // namespace

AngleSearch::AngleSearch(Matrix basis)
    : basis_(std::move(basis)),
      point_(4, basis_.rows()),
      kappa_(4, basis_.rows()),
      e_(basis_.rows()),
      h_(basis_.rows()),
      turn_(basis_.rows()) {}

/// The minimum of the cost under sum_m kappa_m . lambda_m >= 0.
double AngleSearch::linear_bound(const MovingArms& arms, double level) {
  if (arms[0].arm->is_categorical()) return categorical_cost(arms, kappa_, level, point_);
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

/// A lower bound over all directions within `alpha` of `angle`, alternating between lambda and h.
double AngleSearch::range_bound(const MovingArms& arms, double angle, double alpha, double level) {
  const Index d = point_.cols(), a = arms.a(), b = MovingArms::b;
  const double shrink = std::cos(alpha);
  for (Index k = 0; k < d; ++k) {
    e_[k] = std::cos(angle) * basis_(k, 0) + std::sin(angle) * basis_(k, 1);
    h_[k] = arms[a].theta[k] - arms[b].theta[k];
  }
  const double length = norm(h_);
  for (double& x : h_) x /= length;
  double best = 0.0;
  for (int turn = 0; turn < 40; ++turn) {
    for (Index k = 0; k < d; ++k) {
      kappa_(MovingArms::u, k) = e_[k];
      kappa_(MovingArms::v, k) = -e_[k];
      kappa_(b, k) = shrink * h_[k];
      if (arms.shared()) {
        kappa_(MovingArms::u, k) -= shrink * h_[k];
      } else {
        kappa_(a, k) = -shrink * h_[k];
      }
    }
    best = std::max(best, linear_bound(arms, level));
    if (best >= level) break;
    for (Index k = 0; k < d; ++k) turn_[k] = point_(a, k) - point_(b, k);
    const double size = norm(turn_);
    if (size <= 0.0) break;
    double change = 0.0;
    for (Index k = 0; k < d; ++k) {
      turn_[k] /= size;
      change += (turn_[k] - h_[k]) * (turn_[k] - h_[k]);
    }
    if (std::sqrt(change) <= 1e-9) break;
    for (Index k = 0; k < d; ++k) h_[k] += turn_[k];
    const double twice = norm(h_);
    for (double& x : h_) x /= twice;
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
