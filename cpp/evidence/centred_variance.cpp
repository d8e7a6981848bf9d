#include "evidence/centred_variance.hpp"

#include <array>

#include "evidence/solved.hpp"
#include "pair/linear.hpp"

namespace linkarms {
namespace {

/// How a pair of pairs can come to satisfy its constraint: arms move by distances x_m >= 0 with sum kappa_m
/// x_m >= gap.
struct Way {
  double shared_kappa, gap;
};

/// In one dimension a shared arm u = a moves both pairs at once: kappa = |s - sigma| with s, sigma the signs
/// of the two differences where they end. In more, |lambda_u - lambda_v| - |lambda_u - lambda_b| changes by
/// at most 2 for each step of u: the triangle inequality.
std::array<Way, 2> ways(const Situation& now, const Witness& w) {
  const double p = now.dist(w.u, w.v), q = now.dist(w.a, w.b);
  const Matrix& x = now.samples.means();
  if (!w.shared() || x.cols() > 1) return {Way{2.0, q - p}, Way{2.0, inf}};
  const bool same_side = (x(w.u, 0) - x(w.v, 0) >= 0.0) == (x(w.u, 0) - x(w.b, 0) >= 0.0);
  return {Way{same_side ? 0.0 : 2.0, q - p}, Way{same_side ? 2.0 : 0.0, q + p}};
}

/// Witnesses of which something is kept.
constexpr std::size_t most_known = 4096;

}  // namespace

void CentredVarianceEvidence::forget() {
  entries_.assign(static_cast<std::size_t>(model_->n_arms()), {});
  known_.clear();
}

const CentredVarianceEvidence::Entry& CentredVarianceEvidence::entry(const Samples& samples, Index m) {
  Entry& own = entries_[static_cast<std::size_t>(m)];
  if (own.count == samples.count(m)) return own;
  own = {samples.count(m), {}, {}};
  const double n = samples.count(m), d = model_->n_features();
  for (const double c : grid_) {
    own.mixture.emplace_back(n, samples.moments(m).all_squares, c, d);
    own.price.push_back(own.mixture.back().price(d) / discount_);
  }
  return own;
}

CentredVarianceEvidence::Known& CentredVarianceEvidence::known(const Samples& samples, const Witness& w, Index first) {
  std::uint64_t key = 0;
  std::array<long long, 4> count{};
  std::size_t i = 0;
  for (const Index m : {w.u, w.v, w.b, w.a}) {
    key = key * static_cast<std::uint64_t>(model_->n_arms()) + static_cast<std::uint64_t>(m);
    count[i++] = samples.count(m);
  }
  if (known_.size() >= most_known) known_.clear();
  Known& own = known_[key];
  if (!(own.witness == w)) own = {.witness = w, .points = std::vector<Point>(grid_.size())};
  if (own.count != count || own.first != first) {
    own.count = count;
    own.first = first;
    own.reached = -inf;
    own.missed = inf;
  }
  return own;
}

// Each arm rises by its own a_m h_m(x_m); the infimum is a linear problem in the distances (costs that are
// not convex: section 2.1).
double CentredVarianceEvidence::at_scale(const Situation& now, const Witness& w, double level, std::size_t j, Search search,
                                         Point& went) {
  const std::array<Index, 4> arms{w.u, w.v, w.b, w.a};
  const std::size_t n = w.shared() ? 3 : 4;
  std::array<Number, 5> numbers;
  double price = 0.0;
  bool flat = false;
  const bool quick = search == Search::quick;
  for (std::size_t i = 0; i < n; ++i) {
    const Entry& own = entry(now.samples, arms[i]);
    price += own.price[j];
    flat = flat || own.mixture[j].is_flat();
    numbers[i].kind = own.mixture[j];
  }
  double best = inf;
  const std::array<Way, 2> both = ways(now, w);
  for (std::size_t way = 0; way < both.size(); ++way) {
    const auto [shared_kappa, gap] = both[way];
    if (gap <= 0.0) return -price;
    if (gap == inf) continue;
    for (std::size_t i = 0; i < n; ++i) {
      numbers[i].theta = numbers[i].lam = 0.0;
      numbers[i].kappa = w.shared() && i == 0 ? shared_kappa : 1.0;
      // a flat arm moves anywhere at no cost
      if (flat && std::get<VarianceMixture>(numbers[i].kind).is_flat() && numbers[i].kappa > 0.0) return -price;
    }
    numbers[n] = {.theta = gap, .kappa = -1.0, .kind = Fixed{}, .lam = gap};
    const auto all = std::span(numbers).first(n + 1);
    double cost = quick ? convex_cost(all) : linear_cost(all, std::min(level + price, best));
    // far apart, one arm that goes the whole way costs less than all of them on the convex part
    for (std::size_t i = 0; quick && i < n; ++i) {
      const double alone = numbers[i].kappa > 0.0 ? gap / numbers[i].kappa : inf, jump = numbers[i].cost(alone);
      if (alone == inf || !(jump < cost)) continue;
      cost = jump;
      for (std::size_t k = 0; k < n; ++k) numbers[k].lam = k == i ? alone : 0.0;
    }
    if (cost < best) {
      went = {way, {}};
      for (std::size_t i = 0; i < n; ++i) went.distance[i] = numbers[i].lam;
    }
    best = std::min(best, cost);
  }
  return best - price;
}

bool CentredVarianceEvidence::point_is_below(const Situation& now, const Witness& w, const Point& kept, std::size_t j,
                                             double level) {
  const auto [shared_kappa, gap] = ways(now, w)[kept.way];
  const std::array<Index, 4> arms{w.u, w.v, w.b, w.a};
  const std::size_t n = w.shared() ? 3 : 4;
  double reach = 0.0;
  for (std::size_t i = 0; i < n; ++i) reach += (w.shared() && i == 0 ? shared_kappa : 1.0) * kept.distance[i];
  if (!(reach > 0.0) || gap == inf) return false;
  const double factor = std::max(gap, 0.0) / reach;
  double total = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const Entry& own = entry(now.samples, arms[i]);
    total += own.mixture[j].rise(factor * kept.distance[i]) - own.price[j];
  }
  return total < level;
}

// It is below a level if it is for every c; each has a point of its own where it is.
bool CentredVarianceEvidence::is_below(const Situation& now, const Witness& w, double level, Index first) {
  // at the estimates the constraint holds, and there the evidence is what is paid for it
  if (level > 0.0 && now.dist(w.u, w.v) >= now.dist(w.a, w.b)) return true;
  Known& kept = known(now.samples, w, first);
  if (kept.missed <= level) return true;
  if (kept.reached >= level) return false;
  const double surely = level - sure * (1.0 + std::abs(level));
  for (std::size_t turn = 0; turn < grid_.size(); ++turn) {
    const std::size_t j = (static_cast<std::size_t>(first) + turn) % grid_.size();
    Point& point = kept.points[j];
    if (point_is_below(now, w, point, j, surely) || upper_bound(now, w, j, point) < surely) continue;
    if (!(at_scale(now, w, level, j, Search::all, point) >= level)) continue;
    kept.reached = level;
    return false;
  }
  kept.missed = level;
  return true;
}

double CentredVarianceEvidence::against(const Situation& now, const Witness& w, double level, Index first) {
  ++work_;
  const std::size_t size = grid_.size(), begin = static_cast<std::size_t>(first);
  Point went;
  double best = at_scale(now, w, level, begin, Search::all, went);
  for (std::size_t turn = 1; turn < size && best < level; ++turn) {
    const std::size_t j = (begin + turn) % size;
    // most c need no search; to pass over one that would have been larger is safe
    if (upper_bound(now, w, j, went) > best) best = std::max(best, at_scale(now, w, level, j, Search::all, went));
  }
  return best;
}

Index CentredVarianceEvidence::best_scale(const Situation& now, const Witness& w, Index scale) {
  double most = -inf;
  for (std::size_t j = 0; j < grid_.size(); ++j) {
    Point went;
    const double value = upper_bound(now, w, j, went);  // it only steers the choice of arms
    if (value > most) {
      most = value;
      scale = static_cast<Index>(j);
    }
  }
  return scale;
}

// Spreads up to all that may be needed: the level and the largest prices.
std::vector<SpreadBounds> CentredVarianceEvidence::bounds(const Situation& now, double level, Index first, const Witness&) {
  const auto n = static_cast<std::size_t>(model_->n_arms()), j = static_cast<std::size_t>(first);
  SpreadBounds out{std::vector(n, 0.0), std::vector(n, 0.0)};
  for (Index m = 0; m < model_->n_arms(); ++m) out.price[m] = entry(now.samples, m).price[j];
  const double most = largest_share(level, out.price);
  for (std::size_t m = 0; m < n; ++m) out.spread[m] = std::min(entries_[m].mixture[j].spread(most), 1e300);
  return {out};
}

}  // namespace linkarms
