#include "evidence/scalar.hpp"

#include <cmath>

#include "evidence/solved.hpp"
#include "pair/linear.hpp"
#include "pair/scalar.hpp"

namespace linkarms {
namespace {

/// Points that are kept: enough for the edges of clusters of seven arms, twice.
constexpr std::size_t most_points = 64;

/// The arms of a witness in the order of its numbers; how many there are.
[[nodiscard]] std::array<Index, 4> arms_of(const Witness& w) {
  return {w.u, w.v, w.b, w.a};
}
[[nodiscard]] std::size_t n_arms_of(const Witness& w) {
  return w.shared() ? 3 : 4;
}

}  // namespace

ScalarEvidence::ScalarEvidence(const Model& model, std::vector<double> grid, double discount, double tolerance)
    : model_(&model), grid_(grid), tolerance_(tolerance), arms_(model, std::move(grid), discount), points_(most_points) {}

void ScalarEvidence::forget() {
  arms_.forget();
  points_.assign(most_points, {});
}

void ScalarEvidence::sampled(const Situation& now, Index m) {
  arms_.sampled(now.samples, m);
}

double ScalarEvidence::price(const Samples& samples, Index j, const Witness& w) {
  double total = arms_.entry(samples, j, w.u).price + arms_.entry(samples, j, w.v).price + arms_.entry(samples, j, w.b).price;
  if (!w.shared()) total += arms_.entry(samples, j, w.a).price;
  return total;
}

/// The infimum at the j-th c, over both signs of the intra pair; if it is above `level`, any such value. The
/// constraint keeps the sign that the inter pair has where the evidence is smallest. It is implied by the
/// true one whatever that sign, so the value is never too large.
ScalarEvidence::Found ScalarEvidence::minimise(const Samples& samples, Index j, const Witness& w, double level, Search search) {
  const auto low = [&](Index m) { return arms_.entry(samples, j, m).low; };
  const double p = low(w.u) - low(w.v), q = low(w.a) - low(w.b);
  Found found{inf, {low(w.u), low(w.v), low(w.b), low(w.a)}};
  if (std::abs(p) >= std::abs(q) + tolerance_) {
    found.value = 0.0;
    return found;
  }
  const double sign = p >= 0.0 ? 1.0 : -1.0, sigma = q >= 0.0 ? 1.0 : -1.0;
  std::array<Number, 5> numbers;
  for (const double s : {sign, -sign}) {
    const SignedConstraint constraint(w, s, sigma);
    for (std::size_t i = 0; i < constraint.count; ++i) {
      numbers[i] = arms_.number(samples, j, constraint.arm[i]);
      numbers[i].kappa = constraint.kappa[i];
    }
    numbers[constraint.count] = fixed_lack(tolerance_);
    const auto all = std::span(numbers).first(constraint.count + (tolerance_ > 0.0 ? 1 : 0));
    const double value = proved(search == Search::convex ? convex_cost(all) : linear_cost(all, std::min(level, found.value)));
    if (value >= found.value) continue;
    found.value = value;
    for (std::size_t i = 0; i < constraint.count; ++i) found.at[i] = numbers[i].lam;
  }
  return found;
}

double ScalarEvidence::against(const Situation& now, const Witness& w, double level, Index first) {
  const Samples& samples = now.samples;
  const auto value_of = [&](Index j, FourNumbers* at) {
    const double cost = price(samples, j, w);
    const Found found = minimise(samples, j, w, level + cost, Search::whole);
    if (at) *at = found.at;
    return proved(found.value - cost);
  };
  FourNumbers at{};
  double best = value_of(first, &at);
  const auto arms = arms_of(w);
  const auto n = static_cast<Index>(grid_.size());
  for (Index turn = 1; turn < n && best < level; ++turn) {
    const Index j = (first + turn) % n;
    // Where the arms went for the first c bounds the infimum for another from above: most need no search. (To
    // pass over one that would have been larger is safe.)
    double above = 0.0;
    for (std::size_t i = 0; i < n_arms_of(w); ++i) above += arms_.evidence(samples, j, arms[i], at[i]);
    if (above <= best) continue;
    best = std::max(best, value_of(j, nullptr));
  }
  return best;
}

bool ScalarEvidence::is_below(const Situation& now, const Witness& w, double level, Index first) {
  const Samples& samples = now.samples;
  const double below = level - sure * (1.0 + std::abs(level));
  Point* point = find_point(w);
  if (point && point->cleared >= level && point->cleared_with == counts_of(samples, w)) return false;
  // a point that has served for a while most often needs to be moved, no more; the search beyond inflections
  // takes long
  Search search = point ? Search::convex : Search::whole;
  std::vector<char> solved(grid_.size(), 0);
  Index j = first;
  while (true) {
    if (point) {
      refresh_point(samples, *point);
      const auto [scale, most] = most_at(*point, solved);
      if (scale < 0 || most < below) return true;
      j = scale;
    }
    const double cost = price(samples, j, w);
    const Found found = minimise(samples, j, w, level + cost, search);
    if (search == Search::convex && found.value == inf) {
      search = Search::whole;
      continue;
    }
    if (search == Search::whole) {
      if (found.value - cost >= level) {
        if (!point) point = &new_point(w);
        if (point->count[0] < 0) move_point(*point, found.at);
        point->cleared = level;
        point->cleared_with = counts_of(samples, w);
        return false;
      }
      solved[j] = 1;
    }
    search = Search::whole;
    if (!point) point = &new_point(w);
    move_point(*point, found.at);
  }
}

Index ScalarEvidence::best_scale(const Situation& now, const Witness& w, Index scale) {
  const Samples& samples = now.samples;
  // psi's alternative bounds what each c can give: most need no search
  Point point;
  point.witness = w;
  point.terms.resize(4 * grid_.size());
  move_point(point, {now.lam(w.u, 0), now.lam(w.v, 0), now.lam(w.b, 0), now.lam(w.a, 0)});
  std::vector<char> solved(grid_.size(), 0);
  double most = -inf;
  for (std::size_t turn = 0; turn < grid_.size(); ++turn) {
    refresh_point(samples, point);
    const auto [j, above] = most_at(point, solved);
    if (j < 0 || above < most - sure * (1.0 + std::abs(most))) break;
    const Found found = minimise(samples, j, w, -inf, Search::whole);
    const double value = found.value - price(samples, j, w);
    solved[j] = 1;
    if (value > most || (value == most && j < scale)) {
      most = value;
      scale = j;
    }
    move_point(point, found.at);
  }
  return scale;
}

// Where the cost of an arm reaches `level` on either side of its minimiser, rounded outwards to a hundredth,
// as a distance from the estimate.
double ScalarEvidence::reach(const Samples& samples, Index j, Index m, double level) {
  const Number x = arms_.number(samples, j, m);
  const double theta = samples.estimates()(m, 0);
  const double variance = model_->arm(m).variance(samples.estimates().row(m));
  const double scale = std::sqrt(variance / static_cast<double>(samples.count(m))) + 1e-12 * std::abs(theta) + 1e-290;
  const auto below = [&](double lam) { return x.weight * x.cost(lam) < level; };
  const auto end = [&](double side) {
    double inner = x.theta, outer = x.theta, step = scale;
    for (int turn = 0; turn < 1100; ++turn) {
      outer = inner + side * step;
      if (!below(outer)) break;
      inner = outer;
      step *= 2.0;
      if (step > 1e300) return side * inf;  // it levels off below
    }
    for (int turn = 0; turn < 60 && std::abs(outer - inner) > 0.01 * std::abs(outer - x.theta); ++turn) {
      const double middle = 0.5 * (inner + outer);
      (below(middle) ? inner : outer) = middle;
    }
    return outer;
  };
  return std::max(theta - end(-1.0), end(1.0) - theta);
}

std::vector<SpreadBounds> ScalarEvidence::bounds(const Situation& now, double level, Index first, const Witness&) {
  SpreadBounds out;
  for (Index m = 0; m < model_->n_arms(); ++m) out.price.push_back(arms_.entry(now.samples, first, m).price);
  // Each arm is within its reach r at the largest share: |q| - |p| is at most the sum of the r, whose square
  // is at most 4 times the sum of the squares. A spread of 2 r^2 / share says so.
  out.least = largest_share(level, out.price);
  for (Index m = 0; m < model_->n_arms(); ++m) {
    const double r = out.least > 0.0 ? reach(now.samples, first, m, out.least) : 0.0;
    out.spread.push_back(out.least > 0.0 ? std::min(2.0 * r * r / out.least, 1e300) : 0.0);
  }
  return {out};
}

std::array<long long, 4> ScalarEvidence::counts_of(const Samples& samples, const Witness& w) const {
  return {samples.count(w.u), samples.count(w.v), samples.count(w.b), samples.count(w.a)};
}

ScalarEvidence::Point* ScalarEvidence::find_point(const Witness& w) {
  const auto found = std::ranges::find(points_, w, &Point::witness);
  return found == points_.end() ? nullptr : &*found;
}

ScalarEvidence::Point& ScalarEvidence::new_point(const Witness& w) {
  Point& point = points_[next_];
  next_ = (next_ + 1) % points_.size();
  point = {};
  point.witness = w;
  point.count.fill(-1);
  point.terms.resize(4 * grid_.size());
  return point;
}

// b comes nearer to a by what the constraint lacks; where that is not enough, v goes away from u.
void ScalarEvidence::move_point(Point& point, const FourNumbers& at) const {
  auto [x, y, z, v] = at;
  if (point.witness.shared()) v = x;
  const double lack = std::abs(v - z) + tolerance_ - std::abs(x - y), nearer = std::min(lack, std::abs(v - z));
  if (lack > 0.0) {
    z += v > z ? nearer : -nearer;
    if (lack > nearer) y += y > x ? lack - nearer : nearer - lack;
  }
  point.at = {x, y, z, v};
  point.count.fill(-1);
}

void ScalarEvidence::refresh_point(const Samples& samples, Point& point) {
  const auto arms = arms_of(point.witness);
  for (std::size_t i = 0; i < n_arms_of(point.witness); ++i) {
    if (point.count[i] == samples.count(arms[i])) continue;
    for (std::size_t j = 0; j < grid_.size(); ++j) {
      point.terms[i * grid_.size() + j] = arms_.evidence(samples, static_cast<Index>(j), arms[i], point.at[i]);
    }
    point.count[i] = samples.count(arms[i]);
  }
}

std::pair<Index, double> ScalarEvidence::most_at(const Point& point, const std::vector<char>& solved) const {
  Index best = -1;
  double most = -inf;
  for (std::size_t j = 0; j < grid_.size(); ++j) {
    double total = 0.0;
    for (std::size_t i = 0; i < n_arms_of(point.witness); ++i) total += point.terms[i * grid_.size() + j];
    if (!solved[j] && !(total <= most)) {
      best = static_cast<Index>(j);
      most = total;
    }
  }
  return {best, most};
}

}  // namespace linkarms
