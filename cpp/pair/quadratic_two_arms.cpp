#include "pair/quadratic_two_arms.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "math/symmetric.hpp"

namespace linkarms {
namespace {

/// |x|^2 at signed_mu = mu, or -mu: sum b_i^2 / (1 + signed_mu s_i)^2.
double square(View s, View b, double signed_mu) {
  double total = 0.0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const double x = b[i] / (1.0 + signed_mu * s[i]);
    total += x * x;
  }
  return total;
}

/// The mu at which |x| = r, by bisection: any mu gives a safe value. 1 / s_max in the hard case.
double multiplier(View s, View b, double sign, double r) {
  double low = 0.0, high = 1.0 / s.back();
  if (sign > 0.0) {
    while (square(s, b, high) > r * r && high < 1e300) high *= 4.0;
  } else {
    double off = 0.0;  // in the top eigenspace
    double others = 0.0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      const double below = 1.0 - s[i] * high;
      if (below <= 1e-12) {
        off += b[i] * b[i];
      } else {
        others += (b[i] / below) * (b[i] / below);
      }
    }
    if (off <= 1e-26 * r * r && others <= r * r) return high;
  }
  for (int turn = 0; turn < 200 && high - low > 1e-16 * high; ++turn) {
    const double middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    const bool far = square(s, b, sign * middle) > r * r;
    (far == (sign > 0.0) ? low : high) = middle;
  }
  return low;
}

}  // namespace

double QuadraticTwoArms::solve(const QuadraticArm& first, const QuadraticArm& second, Apart apart, double r) {
  const Index d = shift_.cols();
  for (Index k = 0; k < d; ++k) shift_(0, k) = shift_(1, k) = 0.0;
  double length = 0.0;
  for (Index k = 0; k < d; ++k) length = std::hypot(length, first.theta[k] - second.theta[k]);
  const double sign = apart == Apart::at_most ? 1.0 : -1.0;
  if (sign * (length - r) <= 0.0) return 0.0;
  Matrix sum(d, d);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      sum(i, j) = (*first.covariance)(i, j) / first.weight + (*second.covariance)(i, j) / second.weight;
    }
  }
  const auto [s, vectors] = symmetric_eigen(std::move(sum));
  std::vector<double> beta(d, 0.0), x(d), push(d, 0.0);
  for (Index i = 0; i < d; ++i) {
    for (Index k = 0; k < d; ++k) beta[i] += vectors(k, i) * (first.theta[k] - second.theta[k]);
  }
  const double mu = multiplier(s, beta, sign, r);
  double value = -0.5 * sign * mu * r * r, rest = r * r;
  const Index top = d - 1;
  const bool hard = sign < 0.0 && mu == 1.0 / s[top];  // the bisection ends below it
  for (Index i = 0; i < d; ++i) {
    const double below = 1.0 + sign * mu * s[i];
    if (hard && below <= 1e-12) continue;
    x[i] = beta[i] / below;
    value += 0.5 * sign * mu * beta[i] * x[i];
    rest -= x[i] * x[i];
  }
  if (hard) x[top] = (beta[top] >= 0.0 ? 1.0 : -1.0) * std::sqrt(std::max(rest, 0.0));
  // the first arm moves by Sigma / w S^-1 (x - b), the second by the opposite
  for (Index i = 0; i < d; ++i) {
    for (Index k = 0; k < d; ++k) push[k] += vectors(k, i) * (x[i] - beta[i]) / s[i];
  }
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      shift_(0, i) += (*first.covariance)(i, j) / first.weight * push[j];
      shift_(1, i) -= (*second.covariance)(i, j) / second.weight * push[j];
    }
  }
  return std::max(value, 0.0);
}

}  // namespace linkarms
