#include "evidence/solved.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace linkarms {

double largest_share(double level, View price, std::size_t most) {
  std::vector<double> largest(most, 0.0);
  std::partial_sort_copy(price.begin(), price.end(), largest.begin(), largest.end(), std::greater<>());
  double total = level;
  for (const double x : largest) total += std::max(x, 0.0);
  return std::max(total, 0.0);
}

SolvedEvidence::SolvedEvidence(const Model& model, std::vector<double> grid, double discount, double tolerance)
    : model_(&model),
      tolerance_(tolerance),
      problem_(make_pair_problem(model, tolerance)),
      tables_(model, std::move(grid), discount) {}

SolvedEvidence::SolvedEvidence(const SolvedEvidence& other)
    : model_(other.model_),
      tolerance_(other.tolerance_),
      problem_(make_pair_problem(*other.model_, other.tolerance_)),
      tables_(other.tables_) {}

double SolvedEvidence::at_scale(const Situation& now, const Witness& w, double level, Index j) {
  const double price = total_of(tables_.price(j), w);
  if (price == inf) return -inf;
  const Weighted at{now.samples.estimates(), now.dist, tables_.weight(j), tables_.spread(j)};
  return proved(problem_->cost(at, w, level + price) - price);
}

double SolvedEvidence::against(const Situation& now, const Witness& w, double level, Index first) {
  for (const Index m : {w.u, w.v, w.a, w.b}) tables_.refresh(now.samples, m);
  double best = -inf;
  for (Index turn = 0; turn < tables_.size() && best < level; ++turn) {
    best = std::max(best, at_scale(now, w, level, (first + turn) % tables_.size()));
  }
  return best;
}

Index SolvedEvidence::best_scale(const Situation& now, const Witness& w, Index scale) {
  for (const Index m : {w.u, w.v, w.a, w.b}) tables_.refresh(now.samples, m);
  double most = -inf;
  for (Index j = 0; j < tables_.size(); ++j) {
    const double value = at_scale(now, w, inf, j);
    if (value > most) {
      most = value;
      scale = j;
    }
  }
  return scale;
}

std::vector<SpreadBounds> SolvedEvidence::bounds(const Situation& now, double level, Index first, const Witness&) {
  tables_.refresh_all(now.samples);
  const View price = tables_.price(first);
  const double share = largest_share(level, price);
  SpreadBounds out{{}, {price.begin(), price.end()}};
  out.least = problem_->has_quadratic() ? 0.0 : share;
  for (Index m = 0; m < model_->n_arms(); ++m) {
    // an infinite spread times a level of zero would not be a number; and an arm with an infinite price says nothing
    const View theta = now.samples.estimates().row(m);
    out.spread.push_back(share < inf ? std::min(problem_->spread(m, theta, tables_.weight(first)[m], share), 1e300) : 1e300);
  }
  return {out};
}

}  // namespace linkarms
