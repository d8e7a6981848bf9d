#include "evidence/threshold_pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "family/variance_rise.hpp"
#include "math/constants.hpp"
#include "math/special.hpp"
#include "pair/linear.hpp"

namespace linkarms {
namespace {

/// Points that are kept for arms with one parameter each: enough for the edges of a few arms.
constexpr std::size_t most_points = 12;

/// The place of the largest of `size` values; the first of equal ones.
template <class Value>
Index largest(Index size, Index otherwise, Value value) {
  double most = -inf;
  for (Index j = 0; j < size; ++j) {
    const double found = value(j);
    if (found > most) {
      most = found;
      otherwise = j;
    }
  }
  return otherwise;
}

}  // namespace

// As a pair of pairs: one pair of which does not move, its length the limit. What counts is the gap.
PairLengths IsotropicThreshold::collect(const Situation& now, const Witness& w) {
  const auto [a, b] = TwoArms(w);
  for (const Index m : {a, b}) tables_.refresh(now.samples, m);
  terms_.resize(static_cast<std::size_t>(tables_.size()));
  for (Index j = 0; j < tables_.size(); ++j) {
    const View spread = tables_.spread(j), price = tables_.price(j);
    terms_[static_cast<std::size_t>(j)] = {{0.0, 0.0, 1.0 / spread[b], 1.0 / spread[a]}, price[a] + price[b]};
  }
  return {0.0, std::max(limits_.gap(w, now.dist), 0.0)};
}

double IsotropicThreshold::at_scale(const Situation& now, const Witness& w, Index j) const {
  const auto [a, b] = TwoArms(w);
  const double gap = std::max(limits_.gap(w, now.dist), 0.0);
  const View spread = tables_.spread(j), price = tables_.price(j);
  return gap * gap / (2.0 * (spread[a] + spread[b])) - (price[a] + price[b]);
}

double IsotropicThreshold::against(const Situation& now, const Witness& w, double level, Index) {
  const PairLengths lengths = collect(now, w);
  return average_over_grid(lengths, terms_, level, -inf).lower;
}

bool IsotropicThreshold::is_below(const Situation& now, const Witness& w, double level, Index) {
  const PairLengths lengths = collect(now, w);
  return !(average_over_grid(lengths, terms_, level, level).lower >= level);
}

// The average is at least any of its terms, less log J.
bool IsotropicThreshold::is_clear(const Situation& now, const Witness& w, double level, Index first) {
  const auto [a, b] = TwoArms(w);
  for (const Index m : {a, b}) tables_.refresh(now.samples, m);
  const double log_n = std::log(static_cast<double>(tables_.size()));
  return at_scale(now, w, first) - log_n >= level + sure * (1.0 + std::abs(level));
}

Index IsotropicThreshold::best_scale(const Situation& now, const Witness& w, Index scale) {
  const auto [a, b] = TwoArms(w);
  for (const Index m : {a, b}) tables_.refresh(now.samples, m);
  return largest(tables_.size(), scale, [&](Index j) { return at_scale(now, w, j); });
}

// The two arms have the places of b and a.
void SolvedThreshold::collect(const Situation& now, const Witness& w) {
  const auto [a, b] = TwoArms(w);
  for (const Index m : {a, b}) tables_.refresh(now.samples, m);
  terms_.resize(static_cast<std::size_t>(tables_.size()));
  for (Index j = 0; j < tables_.size(); ++j) {
    const View weight = tables_.weight(j), price = tables_.price(j);
    terms_[static_cast<std::size_t>(j)] = {{0.0, 0.0, weight[b], weight[a]}, price[a] + price[b]};
  }
}

PairShifts SolvedThreshold::solve(const Situation& now, const Witness& w, const std::array<double, 4>& weight) {
  const auto [a, b] = TwoArms(w);
  const Matrix& theta = now.samples.estimates();
  weight_[static_cast<std::size_t>(b)] = weight[2];
  weight_[static_cast<std::size_t>(a)] = weight[3];
  const Weighted at{theta, now.dist, weight_, weight_};  // spreads are not read
  PairShifts out{problem_.cost(at, w, inf)};
  if (out.cost <= 0.0 || terms_.size() == 1) return out;
  Matrix lam(theta);
  problem_.solve(at, w, lam);
  out.square[2] = 2.0 * model_->arm(b).kl(theta.row(b), lam.row(b));
  out.square[3] = 2.0 * model_->arm(a).kl(theta.row(a), lam.row(a));
  return out;
}

double SolvedThreshold::average(const Situation& now, const Witness& w, double enough, double too_little) {
  collect(now, w);
  if (terms_.size() == 1) return solve(now, w, terms_[0].weight).cost - terms_[0].price;
  return average_over_grid([&](const auto& weight) { return solve(now, w, weight); }, terms_, enough, too_little).lower;
}

Index SolvedThreshold::best_scale(const Situation& now, const Witness& w, Index scale) {
  collect(now, w);
  return largest(tables_.size(), scale, [&](Index j) {
    const GridTerms& at = terms_[static_cast<std::size_t>(j)];
    return solve(now, w, at.weight).cost - at.price;
  });
}

// A merge keeps the sign that the difference has where the evidence is smallest, a split may have either.
ScalarThreshold::Found ScalarThreshold::at_scale(const Samples& samples, const Witness& w, double level, Index j, Search search) {
  const auto [a, b] = TwoArms(w);
  const auto &x = arms_.entry(samples, j, a), &y = arms_.entry(samples, j, b);
  const double price = x.price + y.price, apart = std::abs(x.low - y.low), sign = x.low >= y.low ? 1.0 : -1.0;
  const bool merges = w.is_merge();
  if (merges ? apart <= limits_.merge : apart >= limits_.split) return {-price, x.low, y.low};
  Found best{inf, x.low, y.low};
  for (const double s : {sign, -sign}) {
    std::array<Number, 3> numbers{arms_.number(samples, j, a), arms_.number(samples, j, b), Number{}};
    numbers[0].kappa = merges ? -s : s;
    numbers[1].kappa = -numbers[0].kappa;
    numbers[2] = {.theta = merges ? limits_.merge : limits_.split, .kappa = merges ? 1.0 : -1.0, .kind = Fixed{}};
    numbers[2].lam = numbers[2].theta;
    const double value =
        proved(search == Search::convex ? convex_cost(numbers) : linear_cost(numbers, std::min(level + price, best.value)));
    if (value < best.value) best = {value, numbers[0].lam, numbers[1].lam};
    if (merges) break;
  }
  best.value = proved(best.value - price);
  return best;
}

double ScalarThreshold::at_point(const Samples& samples, const Witness& w, const Found& point, Index j) {
  const auto [a, b] = TwoArms(w);
  return arms_.evidence(samples, j, a, point.first) + arms_.evidence(samples, j, b, point.second);
}

double ScalarThreshold::against(const Situation& now, const Witness& w, double level, Index first) {
  const Found start = at_scale(now.samples, w, level, first);
  double best = start.value;
  for (Index turn = 1; turn < n_scales_ && best < level; ++turn) {
    const Index j = (first + turn) % n_scales_;
    // Where the arms went for the first c bounds the infimum for another from above: most need no search. (To pass
    // over one that would have been larger is safe.)
    if (at_point(now.samples, w, start, j) <= best) continue;
    best = std::max(best, at_scale(now.samples, w, level, j).value);
  }
  return best;
}

ScalarThreshold::Point* ScalarThreshold::find_point(const Witness& w) {
  const auto found = std::ranges::find(points_, w, &Point::witness);
  return found == points_.end() ? nullptr : &*found;
}

ScalarThreshold::Point& ScalarThreshold::new_point(const Witness& w) {
  if (points_.size() < most_points) points_.emplace_back();
  Point& point = points_[next_];
  point.terms.resize(2 * static_cast<std::size_t>(n_scales_));
  next_ = (next_ + 1) % most_points;
  point.witness = w;
  return point;
}

std::pair<Index, double> ScalarThreshold::most_at(const Samples& samples, Point& point, const std::vector<char>& solved) {
  const auto [a, b] = TwoArms(point.witness);
  const std::span terms(point.terms);
  const auto n = static_cast<std::size_t>(n_scales_);
  for (std::size_t i = 0; i < 2; ++i) {
    const Index m = i == 0 ? a : b;
    if (point.count[i] == samples.count(m)) continue;
    for (std::size_t j = 0; j < n; ++j) terms[i * n + j] = arms_.evidence(samples, static_cast<Index>(j), m, point.at[i]);
    point.count[i] = samples.count(m);
  }
  Index where = -1;
  double most = -inf;
  for (std::size_t j = 0; j < n; ++j) {
    const double found = terms[j] + terms[n + j];
    if (solved[j] || found <= most) continue;
    most = found;
    where = static_cast<Index>(j);
    if (std::isnan(found)) break;
  }
  return {where, most};
}

bool ScalarThreshold::is_below(const Situation& now, const Witness& w, double level, Index first) {
  const double surely = level - sure * (1.0 + std::abs(level));
  Point* point = find_point(w);
  // a point that has served for a while most often needs to be moved, no more; the search beyond inflections takes long
  Search search = point ? Search::convex : Search::whole;
  std::vector<char> solved(static_cast<std::size_t>(n_scales_), 0);
  for (Index j = first;;) {
    if (point) {
      const auto [scale, most] = most_at(now.samples, *point, solved);
      if (scale < 0 || most < surely) return true;
      j = scale;
    }
    const Found found = at_scale(now.samples, w, level, j, search);
    if (search == Search::whole) {
      if (found.value >= level) return false;
      solved[static_cast<std::size_t>(j)] = 1;
    }
    const bool moves = search == Search::whole || found.value < inf;
    search = Search::whole;
    if (!moves) continue;
    if (!point) point = &new_point(w);
    point->at = {found.first, found.second};
    point->count = {-1, -1};
  }
}

Index ScalarThreshold::best_scale(const Situation& now, const Witness& w, Index scale) {
  return largest(n_scales_, scale, [&](Index j) { return at_scale(now.samples, w, inf, j).value; });
}

double VarianceThreshold::own_variances(const Situation& now, const Witness& w, double gap, double level, double c,
                                        double* share) const {
  const auto [a, b] = TwoArms(w);
  const double d = model_->n_features();
  std::array<Number, 3> numbers;
  double price = 0.0;
  bool flat = false;
  for (std::size_t i = 0; i < 2; ++i) {
    const Index m = i == 0 ? a : b;
    const VarianceMixture own(now.samples.count(m), now.samples.moments(m).all_squares, c, d);
    price += own.price(d) / discount_;
    flat = flat || own.is_flat();  // it moves anywhere at no cost
    numbers[i] = {.kappa = 1.0, .kind = own};
  }
  if (flat || gap <= 0.0) return -price;
  numbers[2] = {.theta = gap, .kappa = -1.0, .kind = Fixed{}, .lam = gap};
  if (!share) return linear_cost(numbers, level + price) - price;
  double best = convex_cost(numbers);
  *share = numbers[0].lam / gap;
  // far apart, one arm that goes the whole way costs less than both on the convex part
  for (std::size_t i = 0; i < 2; ++i) {
    const double alone = numbers[i].cost(gap);
    if (alone < best) best = alone, *share = i == 0 ? 1.0 : 0.0;
  }
  return best - price;
}

// One precision for both arms: n, T and R add up, and the infimum of T/R is the largest rho with
//   gap^2 / (1/w_a + 1/w_b) >= (rho - 1) S,   w_m = n_m - rho c n_m / (c + n_m) > 0  (section 6).
double VarianceThreshold::shared_variance(const Situation& now, const Witness& w, double gap, double c) const {
  const auto [first, second] = TwoArms(w);
  const double d = model_->n_features();
  const PrecisionPrior prior = PrecisionPrior::above(c, d);
  double total = 0.0, squares = 0.0, price = 0.0, most = inf;
  for (const Index m : {first, second}) {
    const double n = now.samples.count(m);
    total += n;
    squares += now.samples.moments(m).all_squares;
    price += 0.5 * d * std::log1p(n / c);
    most = std::min(most, (c + n) / c);
  }
  const double top = prior.shape + 0.5 * total * d;
  price += prior.price(top);
  const auto enough = [&](double rho) {
    double spread = 0.0;
    for (const Index m : {first, second}) {
      const double n = now.samples.count(m);
      spread += 1.0 / (n - rho * c * n / (c + n));
    }
    return gap * gap / spread >= (rho - 1.0) * squares;
  };
  const bool equal = !(squares > 0.0) && total > 2.0;  // such samples say nothing: see variance_price
  double low = 1.0, high = gap > 0.0 && !equal ? most : 1.0;
  for (int i = 0; i < 100 && high - low > 1e-15 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (enough(middle) ? low : high) = middle;
  }
  low = std::min(low, top / prior.rate);  // where the evidence is largest
  return top * std::log(low) - prior.rate * (low - 1.0) - price / discount_;
}

double VarianceThreshold::at_scale(const Situation& now, const Witness& w, double level, double c) const {
  const double gap = limits_.gap(w, now.dist);
  return model_->variances() == Variances::shared ? shared_variance(now, w, gap, c) : own_variances(now, w, gap, level, c);
}

double VarianceThreshold::against(const Situation& now, const Witness& w, double level, Index first) const {
  double best = -inf;
  for (std::size_t turn = 0; turn < grid_.size() && best < level; ++turn) {
    best = std::max(best, at_scale(now, w, level, grid_[(static_cast<std::size_t>(first) + turn) % grid_.size()]));
  }
  return best;
}

bool VarianceThreshold::is_below_at(const Situation& now, const Witness& w, double gap, double share, double level) const {
  const auto [a, b] = TwoArms(w);
  const double d = model_->n_features();
  const auto mixture = [&](Index m, double c) {
    return VarianceMixture(now.samples.count(m), now.samples.moments(m).all_squares, c, d);
  };
  return std::ranges::all_of(grid_, [&](double c) {
    const VarianceMixture x = mixture(a, c), y = mixture(b, c);
    const double price = (x.price(d) + y.price(d)) / discount_;
    return x.rise(share * gap) + y.rise((1.0 - share) * gap) - price < level;
  });
}

bool VarianceThreshold::is_below(const Situation& now, const Witness& w, double level, Index first) {
  if (model_->variances() == Variances::shared) return !(against(now, w, level, first) >= level);
  const double gap = std::max(limits_.gap(w, now.dist), 0.0), surely = level - sure * (1.0 + std::abs(level));
  if (kept_for_ == w && is_below_at(now, w, gap, kept_share_, surely)) return true;
  // the c with the most at its own point: most pairs that are below are so there for every c
  std::vector<double> most(grid_.size());
  double highest = -inf;
  for (std::size_t j = 0; j < grid_.size(); ++j) {
    double share = 0.5;
    most[j] = own_variances(now, w, gap, level, grid_[j], &share);
    if (most[j] > highest || j == 0) highest = most[j], kept_share_ = share;
  }
  kept_for_ = w;
  for (std::size_t turn = 0; turn < grid_.size(); ++turn) {
    const std::size_t j = (static_cast<std::size_t>(first) + turn) % grid_.size();
    if (most[j] >= surely && own_variances(now, w, gap, level, grid_[j]) >= level) return false;
  }
  return true;
}

// Of most c an upper bound is below the largest value.
Index VarianceThreshold::best_scale(const Situation& now, const Witness& w, Index scale) const {
  const auto value = [&](Index j) { return at_scale(now, w, inf, grid_[static_cast<std::size_t>(j)]); };
  const auto size = static_cast<Index>(grid_.size());
  if (model_->variances() == Variances::shared) return largest(size, scale, value);
  const double gap = limits_.gap(w, now.dist);
  double share = 0.5;
  std::vector<double> most;
  for (const double c : grid_) most.push_back(own_variances(now, w, gap, inf, c, &share));
  const auto top = static_cast<Index>(std::ranges::max_element(most) - most.begin());
  const double best = value(top);
  return largest(size, scale, [&](Index j) {
    return j == top ? best : most[static_cast<std::size_t>(j)] < best ? -inf : value(j);
  });
}

}  // namespace linkarms
