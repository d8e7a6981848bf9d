#include "family/arm.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "family/counts.hpp"
#include "family/fixed_prior.hpp"
#include "math/phi.hpp"
#include "math/special.hpp"
#include "math/symmetric.hpp"

namespace linkarms {

namespace {

double clip(double x, View ends) {
  return std::min(std::max(x, ends[0]), ends[1]);
}

/// p log(p / q) + q - p: non-negative, and adds up to the KL of two vectors of probabilities. Infinite for q
/// < 0.
double probability_kl(double p, double q) {
  return Poisson{}.kl(p, q);
}

/// Whether coordinate i is Gaussian with the variance of the one before, so that what does not depend on
/// where it is has been computed.
bool repeats(const std::vector<Scalar>& f, std::size_t i) {
  if (i == 0) return false;
  const auto* here = std::get_if<Gaussian>(&f[i]);
  const auto* before = std::get_if<Gaussian>(&f[i - 1]);
  return here != nullptr && before != nullptr && *here == *before;
}

/// Largest eigenvalue of diag(1/p_i) + 11'/p_d, the information about the first d - 1 probabilities: it
/// solves p_d = sum_i 1 / (x - 1/p_i), right of the largest 1/p_i. Bisection, rounded up.
double categories_fisher(View p) {
  const View first = p.first(p.size() - 1);
  const double last = std::max(p.back(), tiny);
  double low = 0.0;
  for (const double q : first) low = std::max(low, 1.0 / std::max(q, tiny));
  double high = low + static_cast<double>(first.size()) / last;
  for (int i = 0; i < 200; ++i) {
    const double x = 0.5 * (low + high);
    if (x == low || x == high) break;
    double s = 0.0;
    for (const double q : first) s += 1.0 / (x - 1.0 / std::max(q, tiny));
    (s > last ? low : high) = x;
  }
  return high;
}

/// A step along e_i moves the probability eps between category i and the last one.
double categories_shift_kl(View p, double eps) {
  const double last = p.back();
  double total = 0.0;
  for (const double q : p.first(p.size() - 1)) {
    double worst = 0.0;
    for (const double move : {-eps, eps}) {
      worst = std::max(worst, probability_kl(q, q + move) + probability_kl(last, last - move));
    }
    total += worst;
  }
  return total;
}

/// Nearest point of the box that adds up to one: clip(mean + x) with the x that makes the sum right.
void clip_to_simplex(View mean, const Matrix& box, MutView theta) {
  const auto shift_by = [&](double x) {
    double sum = 0.0;
    for (std::size_t i = 0; i < mean.size(); ++i) sum += theta[i] = clip(mean[i] + x, box.row(static_cast<Index>(i)));
    return sum;
  };
  shift_by(0.0);
  if (std::ranges::equal(theta, mean)) return;
  double low = -1.0, high = 1.0;
  for (int i = 0; i < 200; ++i) {
    const double x = 0.5 * (low + high);
    if (x == low || x == high) break;
    (shift_by(x) < 1.0 ? low : high) = x;
  }
  shift_by(high);
}

/// The precision's quadratic form of x - y, row by row.
double quadratic(const Matrix& precision, View x, View y) {
  double total = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const View weights = precision.row(static_cast<Index>(i));
    double row = 0.0;
    for (std::size_t j = 0; j < x.size(); ++j) row += weights[j] * (x[j] - y[j]);
    total += row * (x[i] - y[i]);
  }
  return total;
}

}  // namespace

FullCovariance::FullCovariance(Matrix matrix) : covariance(std::move(matrix)) {
  const Index d = covariance.rows();
  if (d < 1 || covariance.cols() != d) {
    throw std::invalid_argument("covariance has shape (" + std::to_string(d) + ", " + std::to_string(covariance.cols()) +
                                "); give a square matrix");
  }
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < i; ++j) {
      if (covariance(i, j) != covariance(j, i)) {
        throw std::invalid_argument("covariance is not symmetric; give a symmetric matrix");
      }
    }
  }
  const Eigen eigen = symmetric_eigen(covariance);
  if (!(eigen.values.front() > 0.0)) {
    throw std::invalid_argument("covariance has the eigenvalue " + std::to_string(eigen.values.front()) +
                                "; give a positive definite matrix");
  }
  precision = inverse(covariance);
  largest_precision = 1.0 / eigen.values.front();
  largest_variance = eigen.values.back();
}

Arm::Arm(std::vector<Scalar> coordinates) : kind_(std::move(coordinates)) {
  const auto& f = std::get<Coordinates>(kind_);
  if (f.empty()) throw std::invalid_argument("an arm has no coordinates; give at least one family");
  isotropic_ = is<Gaussian>(f.front());
  for (std::size_t i = 1; i < f.size(); ++i) isotropic_ = isotropic_ && repeats(f, i);
}

Arm::Arm(FullCovariance covariance) : kind_(std::move(covariance)) {}

Arm::Arm(const SampleBounds& range) : Arm(std::vector<Scalar>{Gaussian{0.25 * range.width() * range.width()}}) {
  if (!(range.low < range.high) || !std::isfinite(range.width())) {
    throw std::invalid_argument("the bounds of an arm are not finite with low < high; give such bounds");
  }
  range_ = range;
}

Arm::Arm(Categories categories) : kind_(categories) {
  if (categories.count < 2) {
    throw std::invalid_argument("an arm has " + std::to_string(categories.count) + " categories; give at least 2");
  }
}

Index Arm::dimension() const {
  if (is_categorical()) return std::get<Categories>(kind_).count;
  return has_covariance() ? covariance().covariance.rows() : static_cast<Index>(coordinates().size());
}

double Arm::kl(View theta, View lam) const {
  if (has_covariance()) return 0.5 * quadratic(covariance().precision, lam, theta);
  double total = 0.0;
  if (is_categorical()) {
    for (std::size_t i = 0; i < theta.size(); ++i) total += probability_kl(theta[i], lam[i]);
    return total;
  }
  for (std::size_t i = 0; i < theta.size(); ++i) total += linkarms::kl(coordinates()[i], theta[i], lam[i]);
  return total;
}

double Arm::fisher(View theta) const {
  if (has_covariance()) return covariance().largest_precision;
  if (is_categorical()) return categories_fisher(theta);
  double largest = 0.0;
  for (std::size_t i = 0; i < theta.size(); ++i) {
    if (!repeats(coordinates(), i)) largest = std::max(largest, linkarms::fisher(coordinates()[i], theta[i]));
  }
  return largest;
}

double Arm::variance(View theta) const {
  return has_covariance() ? covariance().largest_variance : 1.0 / fisher(theta);
}

double Arm::shift_kl(View theta, double eps) const {
  if (is_categorical()) return categories_shift_kl(theta, eps);
  double total = 0.0, worst = 0.0;
  for (std::size_t i = 0; i < theta.size(); ++i) {
    if (has_covariance()) {
      const auto k = static_cast<Index>(i);
      worst = 0.5 * eps * eps * covariance().precision(k, k);
    } else if (!repeats(coordinates(), i)) {
      const Scalar& f = coordinates()[i];
      worst = std::max(linkarms::kl(f, theta[i], theta[i] + eps), linkarms::kl(f, theta[i], theta[i] - eps));
    }
    total += worst;
  }
  return total;
}

void Arm::estimate(View mean, const Matrix& box, MutView theta) const {
  if (is_categorical()) return clip_to_simplex(mean, box, theta);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double value = has_covariance() ? mean[i] : linkarms::estimate(coordinates()[i], mean[i]);
    theta[i] = clip(value, box.row(static_cast<Index>(i)));
    if (has_covariance()) continue;
    if (const auto* own = std::get_if<UserFamily>(&coordinates()[i])) own->functions->check_estimate(theta[i]);
  }
}

double Arm::log_evidence(double n, View mean, View lam, double c) const {
  if (n <= 0.0) return 0.0;
  if (has_covariance()) {
    const double square = quadratic(covariance().precision, mean, lam);
    return n * n * square / (2.0 * (n + c)) - 0.5 * static_cast<double>(lam.size()) * std::log1p(n / c);
  }
  double total = is_categorical() ? log_gamma(c) - log_gamma(n + c) : 0.0;  // Dirichlet(c lam)
  for (std::size_t i = 0; i < lam.size(); ++i) {
    total += is_categorical() ? count_evidence(count_of(n, mean[i]), lam[i], c)
                              : linkarms::log_evidence(coordinates()[i], n, mean[i], lam[i], c);
  }
  return total;
}

double Arm::regret(double n, View theta) const {
  if (n <= 0.0) return 0.0;
  if (is_categorical()) return categories_regret(n, theta);
  if (has_covariance()) throw std::logic_error("an arm with a covariance has a centred mixture; its regret is not defined");
  double total = 0.0;
  for (std::size_t i = 0; i < theta.size(); ++i) total += linkarms::regret(coordinates()[i], n, theta[i]);
  return total;
}

Arm gaussian_arm(Matrix covariance) {
  FullCovariance full(std::move(covariance));
  const Matrix& c = full.covariance;
  bool multiple = true;
  for (Index i = 0; i < c.rows(); ++i) {
    for (Index j = 0; j < c.cols(); ++j) multiple = multiple && c(i, j) == (i == j ? c(0, 0) : 0.0);
  }
  if (!multiple) return Arm(std::move(full));
  return Arm(std::vector<Scalar>(static_cast<std::size_t>(c.rows()), Gaussian{c(0, 0)}));
}

}  // namespace linkarms
