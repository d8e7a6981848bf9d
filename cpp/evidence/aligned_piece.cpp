#include "evidence/aligned_piece.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "math/constants.hpp"
#include "math/one_sided.hpp"
#include "math/shares.hpp"

namespace linkarms {

AlignedRule::AlignedRule(std::vector<double> grid, double ratio, double isotropic, double discount)
    : grid_(std::move(grid)), ratio_(ratio), discount_(discount) {
  if (grid_.empty() || !std::ranges::all_of(grid_, [](double c) { return c > 0.0 && std::isfinite(c); })) {
    throw std::invalid_argument("the grid must hold at least one c, each above 0 and finite");
  }
  if (!(ratio > 0.0)) throw std::invalid_argument("ratio must be above 0");
  if (!(isotropic > 0.0 && isotropic < 1.0)) throw std::invalid_argument("isotropic must be between 0 and 1");
  if (!(discount > 0.0)) throw std::invalid_argument("discount must be above 0");
  const auto n = static_cast<double>(grid_.size());
  log_mass_.assign(3 * grid_.size(), std::log(0.5 * isotropic / n) / discount);
  std::fill_n(log_mass_.begin(), grid_.size(), std::log((1.0 - isotropic) / n) / discount);
}

AlignedRule AlignedRule::standard(std::vector<double> grid, Index d, double discount) {
  return {std::move(grid), 12.0 * d, 0.05, discount};
}

AlignedArm::AlignedArm(const AlignedRule& rule, Index d, Place place, double count, double variance) : place_(place) {
  if (!(count > 0.0)) throw std::invalid_argument("an arm without samples has no aligned evidence");
  const bool turns = place == Place::inter && d > 1;
  terms_.reserve(rule.grid().size());
  for (const double c : rule.grid()) {
    const double n = count, tight = rule.ratio() * c, rest = turns ? n * tight / (n + tight) : n;
    terms_.push_back({.slope = rest / std::sqrt(variance * (rest + c)),
                      .along_price = 0.5 * std::log1p(rest / c) / rule.discount(),
                      .across = turns ? n / (n + tight) * n / variance : 0.0,
                      .across_price = turns ? 0.5 * d * std::log1p(n / tight) / rule.discount() : 0.0,
                      .weight = n / (n + c) * n / variance,
                      .price = 0.5 * (place == Place::inter ? d : 1) * std::log1p(n / c) / rule.discount()});
  }
}

void AlignedArm::add_evidence(const Shift& w, Components& out) const {
  const OneSidedTable& one_sided = OneSidedTable::get();
  const std::size_t n = terms_.size();
  const double half = 0.5 * (place_ == Place::inter ? w.square : w.along * w.along);
  for (std::size_t j = 0; j < n; ++j) {
    const Terms& x = terms_[j];
    out[j] += x.across * half - x.across_price;
    if (!w.still) out[j] += one_sided(x.slope * w.along).value - x.along_price;
    const double two_sided = x.weight * half - x.price;
    if (place_ == Place::inter) out[n + j] += two_sided;
    out[2 * n + j] += two_sided;
  }
}

double AlignedPiece::responsibilities(const std::array<Shift, 4>& w, Components& out) const {
  out = log_mass();
  for (std::size_t m = 0; m < size(); ++m) arms_[m]->add_evidence(w[m], out);
  return to_shares(out);
}

double AlignedPiece::log_evidence(const Matrix& lambda) const {
  return AlignedPoint(*this, lambda).value(*this);
}

AlignedPoint::AlignedPoint(const AlignedPiece& piece, Matrix lambda)
    : lambda_(std::move(lambda)),
      direction_(lambda_.rows(), lambda_.cols()),
      terms_(piece.size(), Components(piece.log_mass().size())) {
  const Index d = lambda_.cols();
  // difference of two rows with length one; of equal rows any fixed unit vector
  const auto unit = [&](std::size_t i, std::size_t j) {
    std::vector<double> out(static_cast<std::size_t>(d));
    double square = 0.0;
    for (Index k = 0; k < d; ++k) {
      const double x = lambda_(static_cast<Index>(i), k) - lambda_(static_cast<Index>(j), k);
      out[k] = x;
      square += x * x;
    }
    if (square == 0.0) out[0] = 1.0;
    for (double& x : out) x /= square == 0.0 ? 1.0 : std::sqrt(square);
    return out;
  };
  const std::vector<double> f = unit(role_u, role_v), e = unit(piece.role_of_a(), role_b);
  double turn = 0.0;
  for (Index k = 0; k < d; ++k) turn += (e[k] - f[k]) * (e[k] - f[k]);
  turn = std::sqrt(turn);
  for (Index k = 0; k < d; ++k) {
    const double both = turn > 0.0 ? (e[k] - f[k]) / turn : 0.0;
    const std::array<double, 4> n{piece.shared() ? both : -f[k], f[k], -e[k], e[k]};
    for (std::size_t m = 0; m < piece.size(); ++m) direction_(static_cast<Index>(m), k) = n[m];
  }
  for (std::size_t m = 0; m < piece.size(); ++m) refresh(piece, m);
}

void AlignedPoint::refresh(const AlignedPiece& piece, std::size_t m) {
  const Index row = static_cast<Index>(m);
  Shift w{.still = true};
  for (Index k = 0; k < lambda_.cols(); ++k) {
    const double shift = piece.mean(m)[k] - lambda_(row, k), n = direction_(row, k);
    w.along += shift * n;
    w.square += shift * shift;
    if (n != 0.0) w.still = false;
  }
  std::ranges::fill(terms_[m], 0.0);
  piece.arm(m).add_evidence(w, terms_[m]);
}

Components AlignedPoint::log_terms(const AlignedPiece& piece) const {
  Components sum = piece.log_mass();
  for (const Components& terms : terms_) {
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += terms[k];
  }
  return sum;
}

double AlignedPoint::value(const AlignedPiece& piece) const {
  Components sum = log_terms(piece);
  return to_shares(sum);
}

}  // namespace linkarms
