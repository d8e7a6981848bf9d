#include "pair/scalar.hpp"

#include <algorithm>
#include <cmath>

#include "family/dominating_variance.hpp"
#include "family/kl_interval.hpp"
#include "pair/linear.hpp"

namespace linkarms {

namespace {

/// How roughly the spread of an arm that is not Gaussian may be found.
constexpr double rough = 0.02;

/// The cost over both signs of the intra pair; the sign of the inter pair stays. `found(m, x)` is told where
/// each arm goes whenever a sign is the best so far.
template <class Found>
double both_signs(const Model& model, double tolerance, const Weighted& at, const Witness& w, double level, Found found) {
  const auto theta = [&](Index m) { return at.theta(m, 0); };
  const double p = theta(w.u) - theta(w.v), q = theta(w.a) - theta(w.b);
  if (std::abs(p) >= std::abs(q) + tolerance) return 0.0;
  const double sign = p >= 0.0 ? 1.0 : -1.0, sigma = q >= 0.0 ? 1.0 : -1.0;
  std::array<Number, 5> numbers;
  double best = inf;
  for (const double s : {sign, -sign}) {
    const SignedConstraint constraint(w, s, sigma);
    for (std::size_t i = 0; i < constraint.count; ++i) {
      const Index m = constraint.arm[i];
      numbers[i] = {.theta = theta(m), .weight = at.weight[m], .kappa = constraint.kappa[i], .kind = &model.scalar(m)};
    }
    numbers[constraint.count] = fixed_lack(tolerance);
    const std::size_t count = constraint.count + (tolerance > 0.0 ? 1 : 0);
    const double value = linear_cost(std::span(numbers).first(count), std::min(level, best));
    if (value < best) {
      best = value;
      for (std::size_t i = 0; i < constraint.count; ++i) found(constraint.arm[i], numbers[i].lam);
    }
  }
  return best;
}

}  // namespace

double ScalarPairs::cost(const Weighted& at, const Witness& w, double level) {
  return both_signs(*model_, tolerance_, at, w, level, [](Index, double) {});
}

void ScalarPairs::solve(const Weighted& at, const Witness& w, Matrix& lam) {
  both_signs(*model_, tolerance_, at, w, inf, [&lam](Index m, double x) { lam(m, 0) = x; });
}

double ScalarPairs::spread(Index m, View theta, double weight, double level) const {
  const Scalar& family = model_->scalar(m);
  if (level < 0.0) return 1.0 / (fisher(family, theta[0]) * weight);
  if (!is<UserFamily>(family)) return dominating_variance(family, theta[0], level / weight, rough) / weight;
  // (r_1 + ... + r_4)^2 <= 4 (r_1^2 + ... + r_4^2): enough room for four arms within their reach
  const double high = kl_interval(family, theta[0], level / weight, Side::above, rough) - theta[0];
  const double low = theta[0] - kl_interval(family, theta[0], level / weight, Side::below, rough);
  const double reach = std::max(high, low);
  return level > 0.0 ? 4.0 * reach * reach / (2.0 * level) : inf;
}

}  // namespace linkarms
