#include "family/variance_shape.hpp"

#include <algorithm>
#include <stdexcept>

#include "math/symmetric.hpp"

namespace linkarms {
namespace {

/// A covariance counts as singular if less than this share of the variance of some coordinate is left once those before it are
/// known. It does not depend on the units.
constexpr double least_rest = 1e-12;

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
      widest = symmetric_eigen(covariance).values.back();
      lower = covariance;
      flat = !cholesky(lower, least_rest);
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

ArmMixture::ArmMixture(const ArmShape& shape, Variances variances, Index d, double n, double c, bool centred) : price(0.0) {
  const auto with = [&](const PrecisionPrior& prior, double degrees) {
    rise = VarianceRise(n, c, prior.rate, prior.shape + 0.5 * degrees);
  };
  if (variances == Variances::full) {
    const PrecisionPrior prior = centred ? PrecisionPrior::centred_wishart(c, d) : PrecisionPrior::above_wishart(c, d);
    with(prior, n);
    price = covariance_price(prior, n, c, d);
    return;
  }
  const double together = variances == Variances::coordinate ? 1.0 : d;  // coordinates that have one variance
  const PrecisionPrior prior = centred ? PrecisionPrior::centred(c, together) : PrecisionPrior::above(c, together);
  with(prior, n * together);
  price = static_cast<double>(shape.units.size()) * variance_price(prior, n, c, together);
}

}  // namespace linkarms
