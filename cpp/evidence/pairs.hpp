// The evidence against one pair of pairs: what every kind of model has to provide, and the kind with closed
// forms.
//
//   E(u,v; a,b) = max over the grid of c of  inf of sum_m l_m(lambda_m)  over all lambda with |lambda_u -
//   lambda_v| >= |lambda_a - lambda_b|
//
// over the 3 or 4 arms of the pair (section 5 of math.md). Prices may make it negative. A kind of evidence is
// a copyable class with
//   unit                            what a prior belongs to: the union bound depends on it
//   averages_grid                   whether E is the average over the grid (7.4) instead of the maximum, which
//                                   has to pay log J
//   against(now, w, level, first)   E, or any value of at least `level` that it is sure to reach; the c to
//                                   begin with is `first`
//   is_below(now, w, level, first)  whether E < level: seldom needs E itself
//   best_scale(now, w, scale)       the c with the most evidence against w; `scale` where there is no choice
//   bounds(now, level, first, at)   how far arms can be from their estimates where E < level: see
//                                   `SpreadBounds`. `at`: where it matters
//   sampled(now, m)                 what fails for this sample in a user's function must fail now
//   forget()                        the state has been set from outside
// Witnesses are oriented: a shared arm is u = a. What a kind keeps is a cache.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "evidence/anytime.hpp"
#include "evidence/tables.hpp"
#include "math/constants.hpp"
#include "pair/isotropic.hpp"

namespace linkarms {

/// What a bound must be below or above by, as a share: more than rounding can do.
inline constexpr double sure = 1e-9;

/// Evidence as it counts: what is not a number is none, so that it forbids a stop.
[[nodiscard]] inline double proved(double value) {
  return std::isnan(value) ? -inf : value;
}

/// For one c, when a pair of pairs is sure to have evidence of at least L, from lengths alone. With S the sum
/// of the spreads (a shared arm counts four times) and P that of the prices (once):  |q| - |p| >= sqrt(2
/// max(L + P + constant, least) S).
struct SpreadBounds {
  std::vector<double> spread, price;
  double least = 0.0;     ///< above 0 where the spreads say nothing about smaller costs
  double constant = 0.0;  ///< what evidence pays besides the prices of its arms
  bool shared = false;    ///< it speaks only of pairs that share an arm
};

/// The sum of x over the arms of a pair of pairs; a shared arm counts once.
[[nodiscard]] inline double total_of(View x, const Witness& w) {
  const double total = x[w.u] + x[w.v] + x[w.b];
  return w.shared() ? total : total + x[w.a];
}

/// Gaussian arms with one variance each: the Gaussian pair cost at the spreads of the tables, less the
/// prices. Version 1 of the rule.
class IsotropicEvidence {
 public:
  static constexpr EvidenceUnit unit = EvidenceUnit::set;
  static constexpr bool averages_grid = false;

  IsotropicEvidence(const Model& model, std::vector<double> grid, double discount) : tables_(model, std::move(grid), discount) {}

  [[nodiscard]] double against(const Situation& now, const Witness& w, double level, Index first) {
    refresh(now, w);
    const Index n = tables_.size();
    double best = -inf;
    for (Index turn = 0; turn < n && best < level; ++turn) {
      best = std::max(best, at_scale(now, w, first + turn < n ? first + turn : first + turn - n));
    }
    return best;
  }

  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level, Index first) {
    refresh(now, w);
    // the cost is at least gap^2 / (2 spread): of most candidates that is enough
    const double bound = isotropic_bound(now.dist, tables_.spread(first), w);
    const double needed = level + total_of(tables_.price(first), w);
    if (bound > 0.0 && bound >= needed * (1.0 + sure)) return false;
    // costs fall with c, and so do prices: the cost at the smallest c, less the prices at the largest, is at
    // least all of them
    const double most =
        isotropic_cost(now.dist, tables_.spread(tables_.smallest()), w) - total_of(tables_.price(tables_.largest()), w);
    if (most < level - sure * (1.0 + std::abs(level))) return true;
    return !(against(now, w, level, first) >= level);
  }

  [[nodiscard]] Index best_scale(const Situation& now, const Witness& w, Index scale) {
    refresh(now, w);
    double most = -inf;
    for (Index j = 0; j < tables_.size(); ++j) {
      const double value = at_scale(now, w, j);
      if (value > most) {
        most = value;
        scale = j;
      }
    }
    return scale;
  }

  /// For the c with the most evidence where it matters, the one by which arms are chosen, and the largest.
  [[nodiscard]] std::vector<SpreadBounds> bounds(const Situation& now, double, Index first, const Witness& at);

  void sampled(const Situation&, Index) {}
  void forget() { tables_.forget(); }

 private:
  void refresh(const Situation& now, const Witness& w) {
    for (const Index m : {w.u, w.v, w.a, w.b}) tables_.refresh(now.samples, m);
  }
  /// The evidence at the j-th c, from tables that are up to date.
  [[nodiscard]] double at_scale(const Situation& now, const Witness& w, Index j) const {
    return isotropic_cost(now.dist, tables_.spread(j), w) - total_of(tables_.price(j), w);
  }

  ScaleTables tables_;
};

}  // namespace linkarms
