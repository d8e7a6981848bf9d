#include "family/variance_shape.hpp"

#include <algorithm>
#include <stdexcept>

#include "math/symmetric.hpp"

namespace linkarms {
namespace {

/// A covariance whose smallest and largest eigenvalue are farther apart than this counts as singular.
constexpr double most_condition = 1e12;

}  // namespace

ArmShape::ArmShape(Variances variances, Index d, double n, const Moments& kept) {
  switch (variances) {
    case Variances::known:
      throw std::logic_error("only arms of unknown variance have shapes");
    case Variances::shared:  // what an arm says by itself
    case Variances::separate:
      units = {kept.all_squares / n};
      flat = !(units[0] > 0.0);
      widest = units[0];
      return;
    case Variances::coordinate:
      for (const double squares : kept.scatter) units.push_back(squares / n);
      flat = !(*std::ranges::min_element(units) > 0.0);
      widest = *std::ranges::max_element(units);
      return;
    case Variances::full: {
      covariance = Matrix(d, d);
      auto entry = kept.scatter.begin();
      for (Index i = 0; i < d; ++i) {
        for (Index j = 0; j <= i; ++j) covariance(i, j) = covariance(j, i) = *entry++ / n;
      }
      if (n <= d) return;
      const auto values = symmetric_eigen(covariance).values;
      widest = values.back();
      lower = covariance;
      flat = !(values.front() * most_condition > values.back()) || !cholesky(lower);
      return;
    }
  }
}

void ArmShape::forms(View mean, View x, std::span<double> t) const {
  if (covariance.rows() > 0) {
    std::vector<double> y(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) y[k] = x[k] - mean[k];
    solve_lower(lower, y);
    t[0] = 0.0;
    for (const double z : y) t[0] += z * z;
    return;
  }
  std::ranges::fill(t, 0.0);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::size_t at = t.size() > 1 ? k : 0;
    t[at] += (x[k] - mean[k]) * (x[k] - mean[k]) / units[at];
  }
}

ArmShape ArmShape::rounded() const {
  ArmShape out;
  out.flat = flat;
  out.widest = widest;
  out.units = {widest};
  return out;
}

std::size_t forms_per_arm(const Model& model) {
  return model.variances() == Variances::coordinate ? static_cast<std::size_t>(model.n_features()) : 1;
}

ArmMixture::ArmMixture(const ArmShape& shape, Variances variances, Index d, double n, double c) : price(0.0) {
  const auto with = [&](double a, double degrees) { rise = VarianceRise(n, c, a, a + 0.5 * degrees); };
  switch (variances) {
    case Variances::full:
      with(0.5 * wishart_prior(c, d), n);
      price = covariance_price(n, c, d);
      return;
    case Variances::coordinate:
      with(0.5 * precision_prior * c, n);
      for (const double unit : shape.units) price += unit > 0.0 ? variance_price(n, c, 1.0) : flat_price(n, c, 1.0);
      return;
    default:
      with(0.5 * precision_prior * c * d, n * d);
      price = shape.flat ? flat_price(n, c, d) : variance_price(n, c, d);
  }
}

}  // namespace linkarms
