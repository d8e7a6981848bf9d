// What lengths say about the evidence of arms that each have a variance of their own.
#include <algorithm>
#include <cmath>
#include <map>

#include "evidence/own_variance.hpp"
#include "evidence/solved.hpp"
#include "math/shares.hpp"

namespace linkarms {
namespace {

/// How near a t is to the least that will do.
constexpr double near_enough = 0.01;

}  // namespace

// One of n arms that is far from its mean, whatever the others do: with e_j the largest sum of n - 1 prices,
//   E >= sum_j w_j exp(l_mj) (s exp(-e_j) + (1 - s) / n) .
OwnVarianceEvidence::AloneCaps OwnVarianceEvidence::caps_alone(double level, std::size_t n_arms) const {
  std::vector<double> weight(grid_.size()), parts(grid_.size()), price(entries_.size());
  for (std::size_t j = 0; j < grid_.size(); ++j) {
    std::ranges::transform(entries_, price.begin(), [j](const Entry& own) { return own.price[j]; });
    weight[j] = std::log(std::exp(log_all(j) - largest_share(0.0, price, n_arms - 1)) + std::exp(log_alone(j, n_arms)));
  }
  const auto evidence = [&](const Entry& own, double t) {
    for (std::size_t j = 0; j < grid_.size(); ++j) {
      parts[j] = weight[j] - own.price[j] + (t > 0.0 ? own.rise[j].rise(t) : 0.0);
    }
    return to_shares(parts);
  };
  const auto find = [&](const Entry& own) {
    constexpr double farthest = 1e12;
    if (!(evidence(own, farthest) > level + sure * (1.0 + std::abs(level)))) return inf;
    double low = 0.0, high = 1.0;
    while (evidence(own, high) < level) high *= 4.0;
    while (high - low > near_enough * high) {
      const double middle = 0.5 * (low + high);
      (evidence(own, middle) < level ? low : high) = middle;
    }
    return high;
  };
  AloneCaps out{n_arms, inf, {}};
  std::map<long long, double> known;  // by count: t depends on nothing else
  for (const Entry& own : entries_) {
    out.least = std::min(out.least, evidence(own, 0.0));
    const auto [place, added] = known.try_emplace(own.count, inf);
    if (added) place->second = find(own);
    out.t.push_back(own.shape.flat ? inf : place->second);
  }
  return out;
}

// With r_m the distances at the caps, |q| - |p| >= sum_m kappa_m r_m (kappa = 2 for a shared arm) leaves no room for all arms to
// be nearer than that; and (sum_m kappa_m r_m)^2 <= n sum_m kappa_m^2 r_m^2. Prices are not counted.
SpreadBounds OwnVarianceEvidence::bounds_alone(double level, const AloneCaps& caps) const {
  SpreadBounds out{{}, std::vector(entries_.size(), 0.0), 0.0, -caps.least, caps.n_arms == 3};
  out.least = std::max(level + out.constant, 1e-300);
  for (std::size_t m = 0; m < entries_.size(); ++m) {
    const double square = caps.t[m] * entries_[m].shape.widest;
    out.spread.push_back(square < inf ? std::min(0.5 * static_cast<double>(caps.n_arms) * square / out.least, 1e300) : 1e300);
  }
  return out;
}

// All arms together, for a share of each c (7.4). Rises are concave: up to T they are at least rise(T) t / T, where t is the
// sum of the arm's forms and at least |D|^2 over the largest variance. Beyond T, its cap or where it reaches all that has to be,
// one arm is enough.
SpreadBounds OwnVarianceEvidence::bounds_together(std::span<const double> share, double level, const AloneCaps& caps) const {
  constexpr std::size_t most_counted = 4;  // so many c; any distribution will do
  std::vector<std::size_t> order = largest_first(share);
  order.resize(std::min(order.size(), most_counted));
  double sum = 0.0;
  for (const std::size_t j : order) sum += share[j];
  SpreadBounds out{{}, std::vector(entries_.size(), 0.0), 0.0, 0.0, caps.n_arms == 3};
  for (const std::size_t j : order) {
    const double q = share[j] / sum;
    if (q > 0.0) out.constant += q * (std::log(q) - log_all(j));
    for (std::size_t m = 0; m < entries_.size(); ++m) out.price[m] += q * entries_[m].price[j];
  }
  const double needed = std::max(largest_share(level + out.constant, out.price), 1e-300);
  std::map<long long, double> known;  // by count: T / rise(T)
  for (std::size_t m = 0; m < entries_.size(); ++m) {
    const Entry& own = entries_[m];
    double ratio = inf;
    if (!own.shape.flat) {
      const auto [place, added] = known.try_emplace(own.count, inf);
      if (added) {
        AveragedRise rise;
        for (const std::size_t j : order) {
          if (share[j] > 0.0) rise.add(share[j] / sum, own.rise[j]);
        }
        const double t = std::min(first_reaching(rise, needed, near_enough), caps.t[m]);
        if (t < inf) place->second = t > 0.0 ? t / rise.rise(t) : 1.0 / rise.slope(0.0);
      }
      ratio = place->second;
    }
    out.spread.push_back(ratio < inf ? std::min(0.5 * ratio * own.shape.widest, 1e300) : 1e300);
  }
  return out;
}

std::vector<SpreadBounds> OwnVarianceEvidence::bounds(const Situation& now, double level, Index first, const Witness& at) {
  for (Index m = 0; m < model_->n_arms(); ++m) static_cast<void>(entry(now.samples, m));
  const AloneCaps of_four = caps_alone(level, 4), of_three = caps_alone(level, 3);
  std::vector<double> share(grid_.size(), 0.0);
  std::vector<SpreadBounds> out;
  const auto add = [&](const Piece& piece) {
    for (std::size_t j = 0; j < grid_.size(); ++j) {
      share[j] = 0.0;
      for (std::size_t i = 0; i < piece.count; ++i) share[j] += arm_evidence(piece, i, j);
    }
    to_shares(share);
    out.push_back(bounds_together(share, level, of_four));
    out.push_back(bounds_together(share, level, of_three));
  };
  if (at.exists()) {
    Piece piece = this->piece(now, at.oriented(), first);
    if (!is_free(piece)) {
      make_forms(piece);
      descend(*piece.forms, goal_of(piece, first).rises, piece.t);
      add(piece);
    }
    std::ranges::fill(piece.t, 0.0);
    add(piece);
  } else {
    share[static_cast<std::size_t>(first)] = 1.0;
    out.push_back(bounds_together(share, level, of_four));
  }
  out.push_back(bounds_alone(level, of_four));
  out.push_back(bounds_alone(level, of_three));
  return out;
}

// One of two arms moves by at least half of the gap, and log E is at least what it says alone.
bool OwnVarianceEvidence::is_clear(const Situation& now, const Witness& w, double level, Index) {
  const double half = 0.5 * limits_->gap(w, now.dist), wanted = level + sure * (1.0 + std::abs(level));
  if (half <= 0.0) return false;
  const auto [first, second] = TwoArms(w);
  for (const Index m : {first, second}) {
    const Entry& own = entry(now.samples, m);
    if (own.shape.flat) return false;
    const double t = half * half / own.shape.widest;
    double most = -inf;
    for (std::size_t j = 0; j < grid_.size(); ++j) most = std::max(most, own.rise[j].rise(t) - own.price[j] + log_alone(j, 2));
    if (most < wanted) return false;
  }
  return true;
}

}  // namespace linkarms
