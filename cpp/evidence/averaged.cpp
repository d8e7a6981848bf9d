#include "evidence/averaged.hpp"

#include <algorithm>
#include <cmath>

#include "math/constants.hpp"
#include "math/shares.hpp"
#include "pair/tolerant.hpp"

namespace linkarms {
namespace {

/// How near the bounds of an average come to each other.
constexpr double close = 1e-6;

/// The blend of the grid by shares g: weights of u, v, b, a, the prices, and what g itself costs.
struct Blend {
  std::array<double, 4> weight{};
  double price = 0.0;
};

Blend blend(std::span<const GridTerms> grid, std::span<const double> share) {
  const double log_n = std::log(static_cast<double>(grid.size()));
  Blend out;
  for (std::size_t j = 0; j < grid.size(); ++j) {
    if (!(share[j] > 0.0)) continue;
    for (std::size_t m = 0; m < 4; ++m) out.weight[m] += share[j] * grid[j].weight[m];
    out.price += share[j] * (grid[j].price + std::log(share[j]) + log_n);
  }
  return out;
}

/// Spreads of weights; of none where the weight is 0.
std::array<double, 4> inverse_of(std::array<double, 4> weight) {
  for (double& x : weight) x = x > 0.0 ? 1.0 / x : 0.0;
  return weight;
}

}  // namespace

// A shared arm: shared_cost (pair/isotropic.hpp) has the notation. With A, B the unit vectors of p - c q and q - c p
// and G = (q^2 - p^2) / (j' (|p - c q| + |q - c p|)), j' = sqrt(j (j + 4 i_u)), the shifts are
//   u: i_u G (1 - c)(A - B),   v: -i_v G (A + c B),   b: i_b G (c A + B).
PairShifts pair_shifts(const PairLengths& lengths, const std::array<double, 4>& spread) {
  const auto [p, q, r, shared, tolerance, line] = lengths;
  const auto [iu, iv, ib, ia] = spread;
  PairShifts out;
  if (tolerance > 0.0) {
    const TolerantMove to = tolerant_move({p, q, r, tolerance, shared, line}, spread);
    return {to.cost, to.squares(spread, shared)};
  }
  if (q <= p) return out;
  if (!shared) {
    const double g = (q - p) / (iu + iv + ia + ib);
    for (std::size_t m = 0; m < 4; ++m) out.square[m] = (spread[m] * g) * (spread[m] * g);
    out.cost = 0.5 * (q - p) * g;
    return out;
  }
  const double j = iv + ib, root = std::sqrt(j * (j + 4.0 * iu)), half = 0.5 * (j + root), f = iu + half;
  const double c = iu / f, rest = half / f;
  const double x = std::sqrt(std::max(c * r * r + rest * (p * p - c * q * q), 0.0));
  const double y = std::sqrt(std::max(c * r * r + rest * (q * q - c * p * p), 0.0));
  const double gap = (q - p) * (q + p) / (x + y), g = gap / root;
  const double dot = 0.5 * (p * p + q * q - r * r), cross = (1.0 + c * c) * dot - c * (p * p + q * q);
  const double cosine = x > 0.0 && y > 0.0 ? std::clamp(cross / (x * y), -1.0, 1.0) : 1.0;
  const double own = 1.0 + c * c + 2.0 * c * cosine;
  out.cost = 0.5 * gap * gap / f;
  out.square = {iu * iu * g * g * rest * rest * 2.0 * (1.0 - cosine), iv * iv * g * g * own, ib * ib * g * g * own, 0.0};
  return out;
}

GridAverage average_over_grid(const PairLengths& lengths, std::span<const GridTerms> grid, double enough, double too_little) {
  return average_over_grid([&](const auto& weight) { return pair_shifts(lengths, inverse_of(weight)); }, grid, enough,
                           too_little);
}

// Fixed-point iteration on the shares, halved where it overshoots.
GridAverage average_over_grid(const PairSolver& solve, std::span<const GridTerms> grid, double enough, double too_little) {
  const std::size_t n = grid.size();
  const double log_n = std::log(static_cast<double>(n));
  GridAverage out{-inf, inf, std::vector(n, 1.0 / static_cast<double>(n))};
  std::vector<double> share(out.share), answer(n), to(n);
  double size = 1.0;
  for (int turn = 0; turn < 100; ++turn) {
    const Blend at = blend(grid, share);
    const PairShifts found = solve(at.weight);
    const double value = found.cost - at.price;
    for (std::size_t j = 0; j < n; ++j) {
      answer[j] = -log_n - grid[j].price;
      for (std::size_t m = 0; m < 4; ++m) answer[j] += 0.5 * grid[j].weight[m] * found.square[m];
    }
    out.upper = std::min(out.upper, to_shares(answer));
    if (value > out.lower) {
      out.lower = value;
      out.share = share;
      to = answer;
      size = std::min(1.0, 2.0 * size);
    } else {
      size *= 0.5;
    }
    if (out.lower >= enough || out.upper < too_little || out.upper - out.lower < close || size < 1e-6) break;
    double total = 0.0;
    for (std::size_t j = 0; j < n; ++j) total += share[j] = (1.0 - size) * out.share[j] + size * to[j];
    for (double& x : share) x /= total;
  }
  return out;
}

AveragedEvidence::AveragedEvidence(const Model& model, std::vector<double> grid, double discount, double tolerance)
    : model_(&model),
      tables_(model, std::move(grid), discount),
      tolerance_(tolerance),
      line_(model.n_features() == 1),
      weight_(static_cast<std::size_t>(model.n_arms())),
      spread_(weight_) {
  if (model.kind() == Kind::covariance) problem_.emplace(model, tolerance);
}

void AveragedEvidence::collect(const Situation& now, const Witness& w) {
  const std::array arms{w.u, w.v, w.b, w.a};
  for (const Index m : arms) tables_.refresh(now.samples, m);
  terms_.resize(static_cast<std::size_t>(tables_.size()));
  for (Index j = 0; j < tables_.size(); ++j) {
    GridTerms& term = terms_[static_cast<std::size_t>(j)];
    for (std::size_t i = 0; i < 4; ++i) {
      const double weight = problem_ ? tables_.weight(j)[arms[i]] : 1.0 / tables_.spread(j)[arms[i]];
      term.weight[i] = i == 3 && w.shared() ? 0.0 : weight;
    }
    term.price = total_of(tables_.price(j), w);
  }
}

PairLengths AveragedEvidence::lengths(const Situation& now, const Witness& w) const {
  const double apart = w.shared() ? now.dist(w.v, w.b) - tolerance_ : 0.0;
  return {now.dist(w.u, w.v), now.dist(w.a, w.b) - tolerance_, apart, w.shared(), tolerance_, line_};
}

PairShifts AveragedEvidence::solve(const Situation& now, const Witness& w, const std::array<double, 4>& weight) {
  const Matrix& theta = now.samples.estimates();
  const std::array arms{w.u, w.v, w.b, w.a};
  const std::size_t n = w.shared() ? 3 : 4;
  for (std::size_t i = 0; i < n; ++i) {
    weight_[static_cast<std::size_t>(arms[i])] = weight[i];
    spread_[static_cast<std::size_t>(arms[i])] = problem_->spread(arms[i], theta.row(arms[i]), weight[i], inf);
  }
  const Weighted at{theta, now.dist, weight_, spread_};
  PairShifts out{problem_->cost(at, w, inf)};
  if (out.cost <= 0.0) return out;
  Matrix lam(theta);
  problem_->solve(at, w, lam);
  for (std::size_t i = 0; i < n; ++i) out.square[i] = 2.0 * model_->arm(arms[i]).kl(theta.row(arms[i]), lam.row(arms[i]));
  return out;
}

GridAverage AveragedEvidence::average(const Situation& now, const Witness& w, double enough, double too_little) {
  collect(now, w);
  if (!problem_) return average_over_grid(lengths(now, w), terms_, enough, too_little);
  return average_over_grid([&](const auto& weight) { return solve(now, w, weight); }, terms_, enough, too_little);
}

double AveragedEvidence::against(const Situation& now, const Witness& w, double level, Index) {
  return proved(average(now, w, level, -inf).lower);
}

bool AveragedEvidence::is_below(const Situation& now, const Witness& w, double level, Index) {
  return !(average(now, w, level, level).lower >= level);
}

Index AveragedEvidence::best_scale(const Situation& now, const Witness& w, Index scale) {
  double most = -inf;
  collect(now, w);
  for (Index j = 0; j < tables_.size(); ++j) {
    const auto& [weight, price] = terms_[static_cast<std::size_t>(j)];
    const double cost = problem_           ? solve(now, w, weight).cost
                        : tolerance_ > 0.0 ? pair_shifts(lengths(now, w), inverse_of(weight)).cost
                                           : isotropic_cost(now.dist, tables_.spread(j), w);
    const double value = cost - price;
    if (value > most) {
      most = value;
      scale = j;
    }
  }
  return scale;
}

std::vector<SpreadBounds> AveragedEvidence::bounds(const Situation& now, double level, Index first, const Witness& at) {
  tables_.refresh_all(now.samples);
  const auto n = static_cast<std::size_t>(tables_.size());
  const double log_n = std::log(static_cast<double>(n));
  const auto bound_of = [&](std::span<const double> share) {
    SpreadBounds out{std::vector(now.samples.n_arms(), 0.0), std::vector(now.samples.n_arms(), 0.0)};
    for (std::size_t j = 0; j < n; ++j) {
      if (!(share[j] > 0.0)) continue;
      out.constant += share[j] * (std::log(share[j]) + log_n);
      const auto place = static_cast<Index>(j);
      const View spread = tables_.spread(place), weight = tables_.weight(place), price = tables_.price(place);
      for (std::size_t m = 0; m < out.price.size(); ++m) {
        out.spread[m] += share[j] * (problem_ ? weight[m] : 1.0 / spread[m]);
        out.price[m] += share[j] * price[m];
      }
    }
    for (Index m = 0; m < model_->n_arms(); ++m) {
      double& x = out.spread[static_cast<std::size_t>(m)];
      x = problem_ ? problem_->spread(m, now.samples.estimates().row(m), x, inf) : 1.0 / x;
    }
    out.constant += 2.0 * close;  // what is cleared by these bounds is cleared by the average as it is computed
    return out;
  };
  std::vector<SpreadBounds> out;
  if (at.exists()) {
    out.push_back(bound_of(average(now, at.oriented(), level, -inf).share));
  }
  std::vector<double> alone(n, 0.0);
  alone[static_cast<std::size_t>(first)] = 1.0;
  out.push_back(bound_of(alone));
  return out;
}

}  // namespace linkarms
