// What one pair costs against another, for the search.
#pragma once

#include "pair/problem.hpp"
#include "psi/candidate.hpp"
#include "psi/clustered_arms.hpp"
#include "psi/spreads.hpp"

namespace linkarms::psi {

using linkarms::GeneralPairs;

/// The costs of one search: all that they depend on, and their number.
template <class Problem>
struct Costs {
  const ClusteredArms& now;
  const Spreads& spreads;
  Problem& problem;
  long long& evaluated;

  [[nodiscard]] Weighted at() const { return {now.theta, now.dist, spreads.weights(), spreads.values()}; }

  /// cost(x,y; a,b), or if that is above `level` a lower bound of it that is, too. It does not depend on the
  /// order of the arms.
  [[nodiscard]] double operator()(Index x, Index y, Index a, Index b, double level) const {
    ++evaluated;
    const Witness w{std::min(x, y), std::max(x, y), std::min(a, b), std::max(a, b)};
    return problem.cost(at(), w.oriented(), level);
  }
  /// cost(u,v; u,b), in the same way.
  [[nodiscard]] double shared(Index u, Index v, Index b, double level) const {
    ++evaluated;
    return problem.cost(at(), {u, v, u, b}, level);
  }
};

}  // namespace linkarms::psi
