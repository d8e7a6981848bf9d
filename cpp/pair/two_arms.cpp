#include "pair/two_arms.hpp"

#include <array>
#include <cmath>
#include <span>
#include <stdexcept>

#include "math/symmetric.hpp"
#include "pair/covariance.hpp"
#include "pair/linear.hpp"

namespace linkarms {

void IsotropicTwoArms::solve(const Weighted& at, const Witness& w, Matrix& lam) const {
  const double gap = limits_.gap(w, at.dist);
  if (gap <= 0.0) return;
  const auto [a, b] = TwoArms(w);
  const double length = at.dist(a, b), g = (w.is_merge() ? -gap : gap) / (at.spread[a] + at.spread[b]);
  for (Index i = 0; i < lam.cols(); ++i) {
    // equal arms come apart in any direction: the first one
    const double e = length > 0.0 ? (at.theta(a, i) - at.theta(b, i)) / length : (i == 0 ? 1.0 : 0.0);
    lam(a, i) += at.spread[a] * g * e;
    lam(b, i) -= at.spread[b] * g * e;
  }
}

namespace {

/// Arms with one parameter each. The constraint is linear once the sign of the difference is chosen: a merge keeps
/// the one that it has, a split may have either.
class ScalarTwoArms final : public TwoArmProblem {
 public:
  ScalarTwoArms(const Model& model, const Task& task) : model_(&model), limits_(task) {}

  double cost(const Weighted& at, const Witness& w, double level) override {
    double first = 0.0, second = 0.0;
    return both_signs(at, w, level, first, second);
  }
  void solve(const Weighted& at, const Witness& w, Matrix& lam) override {
    const auto [a, b] = TwoArms(w);
    double first = lam(a, 0), second = lam(b, 0);
    both_signs(at, w, inf, first, second);
    lam(a, 0) = first;
    lam(b, 0) = second;
  }

 private:
  double both_signs(const Weighted& at, const Witness& w, double level, double& first, double& second) const {
    const auto [a, b] = TwoArms(w);
    const double x = at.theta(a, 0), y = at.theta(b, 0), sign = x >= y ? 1.0 : -1.0;
    const bool merges = w.is_merge();
    if (merges ? std::abs(x - y) <= limits_.merge : std::abs(x - y) >= limits_.split) return 0.0;
    double best = inf;
    for (const double s : {sign, -sign}) {
      // s (l_a - l_b) <= merge, or >= split
      const double kappa = merges ? -s : s;
      std::array<Number, 3> numbers{
          Number{.theta = x, .weight = at.weight[a], .kappa = kappa, .kind = &model_->scalar(a)},
          Number{.theta = y, .weight = at.weight[b], .kappa = -kappa, .kind = &model_->scalar(b)},
          Number{.theta = merges ? limits_.merge : limits_.split, .kappa = merges ? 1.0 : -1.0, .kind = Fixed{}}};
      for (Number& number : numbers) number.lam = number.theta;
      const double value = linear_cost(numbers, std::min(level, best));
      if (value < best) {
        best = value;
        first = numbers[0].lam;
        second = numbers[1].lam;
      }
      if (merges) break;
    }
    return best;
  }

  const Model* model_;
  Limits limits_;
};

/// Gaussian arms with full covariances. Only x = lambda_a - lambda_b matters, with the covariance S = Sigma_a / w_a +
/// Sigma_b / w_b = U diag(s) U' and b = U' (theta_a - theta_b):
///   min sum_i (x_i - b_i)^2 / (2 s_i)   subject to  |x| <= r - eps, or |x| >= r + eps.
/// One multiplier: x_i = b_i / (1 + mu s_i), or b_i / (1 - mu s_i) with mu <= 1 / s_max. The value is the dual's:
///   mu/2 (sum b_i^2 / (1 + mu s_i) - r^2),   mu/2 (r^2 - sum b_i^2 / (1 - mu s_i)).
/// Hard case of the split: b has no part in the top eigenspace and |x| is too small at 1 / s_max; the rest goes
/// there.
class CovarianceTwoArms final : public TwoArmProblem {
 public:
  CovarianceTwoArms(const Model& model, const Task& task) : limits_(task) {
    for (Index m = 0; m < model.n_arms(); ++m) covariance_.push_back(covariance_of(model.arm(m)));
  }

  double cost(const Weighted& at, const Witness& w, double) override { return find(at, w).value; }
  void solve(const Weighted& at, const Witness& w, Matrix& lam) override {
    const Found found = find(at, w);
    if (found.shift.empty()) return;
    const auto [a, b] = TwoArms(w);
    // lambda_a moves by Sigma_a / w_a S^-1 (x - b), lambda_b by the opposite
    for (Index i = 0; i < lam.cols(); ++i) {
      for (Index j = 0; j < lam.cols(); ++j) {
        lam(a, i) += covariance_[a](i, j) / at.weight[a] * found.shift[j];
        lam(b, i) -= covariance_[b](i, j) / at.weight[b] * found.shift[j];
      }
    }
  }

 private:
  struct Found {
    double value = 0.0;
    std::vector<double> shift;  ///< S^-1 (x - b) in the arms' own coordinates
  };

  /// |x|^2 at sign * mu: sum b_i^2 / (1 + sign mu s_i)^2.
  static double square(View s, View b, double signed_mu) {
    double total = 0.0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      const double x = b[i] / (1.0 + signed_mu * s[i]);
      total += x * x;
    }
    return total;
  }

  Found find(const Weighted& at, const Witness& w) const {
    const auto [a, b] = TwoArms(w);
    if (limits_.gap(w, at.dist) <= 0.0) return {};
    const Index d = at.theta.cols();
    Matrix sum(d, d);
    for (Index i = 0; i < d; ++i) {
      for (Index j = 0; j < d; ++j) sum(i, j) = covariance_[a](i, j) / at.weight[a] + covariance_[b](i, j) / at.weight[b];
    }
    const auto [s, vectors] = symmetric_eigen(std::move(sum));
    std::vector<double> beta(d, 0.0), x(d);
    for (Index i = 0; i < d; ++i) {
      for (Index k = 0; k < d; ++k) beta[i] += vectors(k, i) * (at.theta(a, k) - at.theta(b, k));
    }
    const double sign = w.is_merge() ? 1.0 : -1.0, r = w.is_merge() ? limits_.merge : limits_.split;
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
    if (hard) {
      for (Index i = 0; i < d; ++i) {
        if (1.0 + sign * mu * s[i] <= 1e-12) x[i] = 0.0;
      }
      x[top] = (beta[top] >= 0.0 ? 1.0 : -1.0) * std::sqrt(std::max(rest, 0.0));
    }
    Found out{std::max(value, 0.0), std::vector<double>(d, 0.0)};
    for (Index i = 0; i < d; ++i) {
      for (Index k = 0; k < d; ++k) out.shift[k] += vectors(k, i) * (x[i] - beta[i]) / s[i];
    }
    return out;
  }

  /// The mu at which |x| = r, by bisection: any mu gives a safe value. 1 / s_max in the hard case.
  static double multiplier(View s, View b, double sign, double r) {
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

  std::vector<Matrix> covariance_;
  Limits limits_;
};

}  // namespace

std::unique_ptr<TwoArmProblem> make_two_arm_problem(const Model& model, const Task& task) {
  switch (model.kind()) {
    case Kind::scalar:
      return std::make_unique<ScalarTwoArms>(model, task);
    case Kind::covariance:
      return std::make_unique<CovarianceTwoArms>(model, task);
    case Kind::vector:
      throw std::invalid_argument(
          "a distance threshold is not available for products and categorical arms; give n_clusters, or a Gaussian family");
    case Kind::isotropic:
    case Kind::unknown_variance:
      break;
  }
  throw std::logic_error("isotropic arms have closed forms; use IsotropicTwoArms");
}

}  // namespace linkarms
