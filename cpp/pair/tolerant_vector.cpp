#include "pair/tolerant_vector.hpp"

#include <algorithm>
#include <cmath>

#include "math/constants.hpp"
#include "pair/dominating_two_arms.hpp"
#include "pair/tolerant.hpp"

namespace linkarms {
namespace {

/// Move v away from u by what the constraint lacks: the minimiser of a lower bound may miss it.
void make_feasible(const Witness& w, double eps, Matrix& lam) {
  double intra = 0.0, inter = 0.0;
  for (Index k = 0; k < lam.cols(); ++k) {
    intra = std::hypot(intra, lam(w.u, k) - lam(w.v, k));
    inter = std::hypot(inter, lam(w.a, k) - lam(w.b, k));
  }
  const double lack = inter + eps - intra;
  if (lack <= 0.0 || !(intra > 0.0)) return;
  for (Index k = 0; k < lam.cols(); ++k) lam(w.v, k) += lack / intra * (lam(w.v, k) - lam(w.u, k));
}

}  // namespace

/// What a feasible point costs: the inter pair meets, and where the intra pair is then too short, v goes away.
double TolerantVectorPairs::first_upper(const MovingArms& arms) const {
  const Index d = model_->n_features();
  Matrix to(3, d);
  for (Index i = 0; i < 2; ++i) std::ranges::copy(arms[i].theta, to.row(i).begin());
  find_meeting_point(arms[arms.a()], arms[MovingArms::b], to.row(2));
  if (arms.shared()) std::ranges::copy(to.row(2), to.row(MovingArms::u).begin());
  double total = arms.cost(arms.a(), to.row(2)) + arms.cost(MovingArms::b, to.row(2)), square = 0.0;
  for (Index k = 0; k < d; ++k) square += (to(0, k) - to(1, k)) * (to(0, k) - to(1, k));
  if (square < eps_ * eps_) total += move_away(arms[MovingArms::v], to.row(MovingArms::u), eps_, to.row(MovingArms::v));
  return total;
}

double TolerantVectorPairs::bound(const Weighted& at, const Witness& w, Matrix& lam) {
  const MovingArms arms(*model_, at, w);
  if (at.dist(w.a, w.b) <= at.dist(w.u, w.v)) return 0.0;
  double lower = 0.0, upper = first_upper(arms);
  bool bounded = true;
  for (Index i = 0; i < arms.size(); ++i) bounded = bounded && is_bounded(*arms[i].arm);
  Matrix trial(lam);
  for (int turn = 0; turn < 6; ++turn) {
    if (upper == inf && !bounded) break;  // nothing is known
    double widest = 0.0;
    for (Index i = 0; i < arms.size(); ++i) {
      const Index m = arms.index(i);
      spread_[static_cast<std::size_t>(m)] = plain_.spread(m, at.theta.row(m), at.weight[m], upper);
      widest = std::max(widest, spread_[static_cast<std::size_t>(m)]);
    }
    if (!(widest < 1e150)) break;  // at this price an arm may go nearly anywhere
    const Weighted gaussian{at.theta, at.dist, at.weight, spread_};
    const TolerantMove to = tolerant_move(gaussian, w, eps_, false);
    lower = std::max(lower, std::min(to.cost, upper));
    trial = lam;
    apply_move(gaussian, w, to, trial);
    make_feasible(w, eps_, trial);
    double cost = 0.0;
    for (Index i = 0; i < arms.size(); ++i) cost += arms.cost(i, trial.row(arms.index(i)));
    for (Index i = 0; i < arms.size(); ++i) bring_into_domain(arms[i], trial.row(arms.index(i)));
    const bool much_better = cost < upper * (1.0 - 1e-3);
    upper = std::min(upper, cost);
    if (!much_better) break;
  }
  lam = trial;
  return lower;
}

double TolerantVectorPairs::cost(const Weighted& at, const Witness& w, double level) {
  // without a tolerance there is no cost where the intra pair is the longer one
  const double plain = at.dist(w.a, w.b) - eps_ > at.dist(w.u, w.v) ? plain_.cost(at, w, level) : 0.0;
  if (plain > level) return plain;
  Matrix lam(at.theta);
  return std::max(plain, bound(at, w, lam));
}

void TolerantVectorPairs::solve(const Weighted& at, const Witness& w, Matrix& lam) {
  Matrix moved(lam);
  const double found = bound(at, w, moved);
  if (at.dist(w.a, w.b) - eps_ > at.dist(w.u, w.v) && plain_.cost(at, w, inf) > found) {
    plain_.solve(at, w, lam);
  } else {
    lam = moved;
  }
}

}  // namespace linkarms
