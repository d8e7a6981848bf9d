#include "pair/linear.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "pair/poles.hpp"

namespace linkarms {

namespace {

/// Relative gap at which the search over a number that is not convex ends; its answer is the lower end.
constexpr double gap = 1e-9;
/// A lower bound has to be above a level by more than this, relatively, before it counts as above it.
constexpr double rounding = 1e-12;

using Numbers = std::span<Number>;

/// G(mu) = sum kappa_m lambda_m(mu) - offset, its derivative, and the size of its terms.
struct Residual {
  double g, gain, scale;

  /// Writes lambda(mu) into the numbers, until one is infinite: then g is.
  Residual(Numbers numbers, double mu, double offset) : g(-offset), gain(0.0), scale(std::abs(offset)) {
    for (Number& x : numbers) {
      if (x.kappa == 0.0) continue;
      const double slope = mu * x.kappa / x.weight;
      double lam = x.step(slope);
      if (lam < x.cap) {
        gain += x.kappa * x.kappa / x.weight * x.gain(slope, lam);
      } else {
        lam = x.cap;
      }
      if (lam == inf) {
        g = inf, gain = 0.0, scale = 0.0;
        return;
      }
      x.lam = lam;
      g += x.kappa * lam;
      scale += std::abs(x.kappa * lam);
    }
  }
};

/// D(mu), the multiplier, and G(mu); the numbers hold lambda(mu).
struct Dual {
  double value, mu, residual;
};

/// sum w_m f_m(lambda_m) where the numbers are.
double cost_of(std::span<const Number> numbers) {
  double total = 0.0;
  for (const Number& x : numbers) {
    if (x.lam != x.theta) total += x.weight * x.cost(x.lam);
  }
  return total;
}

/// Minimise sum w_m f_m(lambda_m) subject to sum kappa_m lambda_m >= offset and lambda_m <= cap_m.
/// Maximises D(mu) = sum_m min_lambda [w_m f_m(lambda) - mu kappa_m lambda] + mu offset over mu >= 0 by
/// Newton's method on G inside a bracket. Every D(mu) is a lower bound of the minimum, so the search ends
/// early where one exceeds `level`.
Dual maximise_dual(Numbers numbers, double offset, double level) {
  double limit = inf, start = -offset, farthest = -offset, scale = std::abs(offset), gain = 0.0;
  bool loose = false;
  for (Number& x : numbers) {
    x.lam = x.theta;
    loose = loose || !(x.is_divergence() || std::holds_alternative<Fixed>(x.kind));
    if (x.kappa == 0.0) continue;
    const double most = x.kappa > 0.0 ? x.cap : std::holds_alternative<Fixed>(x.kind) ? x.theta : -inf;
    farthest += x.kappa * most;
    scale += std::abs(x.kappa * most);
    start += x.kappa * x.theta;
    gain += x.kappa * x.kappa / x.weight * x.gain(0.0, x.theta);
    if (x.kappa > 0.0 && x.cap == inf) limit = std::min(limit, x.slope_limit() * x.weight / x.kappa);
  }
  if (start >= 0.0) return {0.0, 0.0, start};
  if (farthest < -rounding * scale) {  // the caps leave no way to satisfy the constraint
    for (Number& x : numbers) x.lam = x.kappa > 0.0 ? x.cap : x.theta;
    return {inf, inf, -inf};
  }
  double low = 0.0, high = limit, growth = 2.0, before = inf;
  double mu = gain > 0.0 ? -start / gain : inf;
  if (!(mu < 0.9 * high)) mu = high < inf ? 0.5 * high : 1.0;
  for (int turn = 0; turn < 300; ++turn) {
    const Residual at(numbers, mu, offset);
    if (turn == 2 && level < inf && at.g < inf) {
      const double value = cost_of(numbers) - mu * at.g;
      if (value > level + rounding * std::abs(level)) return {value, mu, at.g};
    }
    double next = at.gain > 0.0 && at.g < inf ? mu - at.g / at.gain : inf;
    // D lacks about g^2 / (2 gain). What a mixture costs is only needed to stop or not to stop, and any D is
    // a lower bound
    if (loose && at.gain > 0.0 && at.g * at.g <= 2e-10 * at.gain) break;
    const double size = std::abs(at.g);
    if (size <= 4e-16 * at.scale || (size <= 1e-9 * at.scale && std::abs(next - mu) <= 1e-15 * mu)) break;
    (at.g > 0.0 ? high : low) = mu;
    // Newton crawls on the far side of a pole: halve the bracket where it does not halve the residual
    if (!(low < next && next < high && size < 0.5 * before)) {
      if (high < inf) {
        next = high < 16.0 * low || low == 0.0 ? 0.5 * (low + high) : std::sqrt(low * high);
      } else if (low < next && next < inf) {
        next = std::max(next, 2.0 * mu);  // nothing bounds mu from above yet: do not creep
      } else {
        growth *= growth;
        next = mu * growth;
        if (next > 1e250) return {inf, low, -inf};  // no way to satisfy the constraint
      }
    }
    before = size;
    if (std::abs(next - mu) <= 1e-15 * mu) break;
    mu = next;
  }
  double g = Residual(numbers, mu, offset).g;
  if (g == inf) {  // lambda(mu) jumps to infinity here: just below, everything is finite
    mu = low;
    g = Residual(numbers, mu, offset).g;
  }
  return {std::max(cost_of(numbers) - mu * g, 0.0), mu, g};
}

/// The minimum over numbers before their inflections. What the constraint still lacks goes to a number whose
/// cost is linear.
double capped_cost(Numbers numbers, double level) {
  const Dual found = maximise_dual(numbers, 0.0, level);
  if (found.value < inf && found.residual < 0.0) {
    const auto linear = std::ranges::find_if(numbers, [](const Number& x) { return x.kappa > 0.0 && x.is_linear(); });
    if (linear != numbers.end()) linear->lam -= found.residual / linear->kappa;
  }
  return found.value;
}

/// Where the number beyond its inflection is, its cost f there, the cost g of the others given that, and the
/// slope of g.
struct Point {
  double x, f, g, slope;
};

/// Minimum over [left.x, right.x] of the chord of f plus the larger of the two tangents of g.
double interval_bound(const Point& left, const Point& right) {
  const double width = right.x - left.x, chord = (right.f - left.f) / width;
  if (left.g == inf) {  // the others cannot satisfy the constraint at the left end
    if (right.slope > -inf) {
      return std::min(right.slope < 0.0 ? left.f + right.g - right.slope * width : left.f + right.g, right.f + right.g);
    }
    return left.f + right.g;
  }
  if (left.slope + chord >= 0.0) return left.f + left.g;
  if (right.slope + chord <= 0.0) return right.f + right.g;
  // where the two tangents cross
  double x = (right.g - left.g + left.slope * left.x - right.slope * right.x) / (left.slope - right.slope);
  x = std::min(std::max(x, left.x), right.x);
  return left.f + chord * (x - left.x) + std::max(left.g + left.slope * (x - left.x), right.g + right.slope * (x - right.x));
}

/// Number j beyond its inflection, the others before theirs: a certified lower bound of the minimum.
/// f(x), the cost of j at x, is increasing and concave there; g(x), the cost of the others given x, is
/// decreasing and convex, with slope -mu kappa_j. So between two points f lies above its chord and g above
/// its tangents, whose sum is piecewise linear: its smallest value bounds the interval from below. Intervals
/// whose bound is not above what is known are halved.
double beyond_inflection(Numbers numbers, std::size_t j, double level) {
  Number& moving = numbers[j];
  std::array<Number, most_numbers> copies;
  std::size_t count = 0;
  double end = 0.0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i == j) continue;
    end -= numbers[i].kappa * numbers[i].theta;
    copies[count++] = numbers[i];
  }
  const Numbers others = Numbers(copies).first(count);
  end /= moving.kappa;
  const double start = moving.cap;
  if (end <= start) return inf;
  const auto at = [&](double x) {
    const Dual rest = maximise_dual(others, -moving.kappa * x, inf);
    return Point{x, moving.weight * moving.cost(x), rest.value, -rest.mu * moving.kappa};
  };
  struct Interval {
    Point left, right;
  };
  constexpr std::size_t most = 64;
  std::array<Interval, most> stack;
  stack[0] = {at(start), {end, moving.weight * moving.cost(end), 0.0, 0.0}};
  std::size_t depth = 1;
  double upper = stack[0].right.f, best = end;
  const auto improve = [&](const Point& p) {
    if (p.f + p.g < upper) upper = p.f + p.g, best = p.x;
  };
  improve(stack[0].left);
  double lower = upper;
  while (depth > 0) {
    const auto [left, right] = stack[--depth];
    const double bound = interval_bound(left, right);
    // (a bound that is not a number, from a user's function, ends the search as well)
    const bool low = bound <= level && bound < upper * (1.0 - gap);
    if (!low || right.x - left.x <= 1e-12 * right.x || depth + 6 > most) {
      lower = std::min(lower, bound);
      continue;
    }
    const Point middle = at(right.x < 4.0 * left.x ? 0.5 * (left.x + right.x) : std::sqrt(left.x * right.x));
    improve(middle);
    stack[depth++] = {middle, right};
    stack[depth++] = {left, middle};  // looked at first
  }
  (void)at(best);
  for (std::size_t i = 0, k = 0; i < numbers.size(); ++i) numbers[i].lam = i == j ? best : copies[k++].lam;
  return lower;
}

/// The smaller of `value` and the minima with one number beyond its inflection. At a minimum at most one is.
double with_one_beyond(Numbers numbers, double value, double level) {
  std::array<double, most_numbers> saved{};
  const auto save = [&] { std::ranges::transform(numbers, saved.begin(), &Number::lam); };
  save();
  double best = value, above = inf;
  for (std::size_t j = 0; j < numbers.size(); ++j) {
    const Number& x = numbers[j];
    if (!(x.kappa > 0.0 && x.cap < inf)) continue;
    const double at_cap = x.weight * x.cost(x.cap);
    if (at_cap >= best) continue;
    double beyond = at_cap > level ? at_cap : beyond_inflection(numbers, j, level);
    if (beyond > level) {
      above = std::min(above, beyond);
      continue;
    }
    // where the search does not look depends on the level: the answer may not
    if (level < inf) beyond = beyond_inflection(numbers, j, inf);
    if (!(beyond >= best)) {
      best = beyond;
      save();
    }
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i].lam = saved[i];
  return std::min(best, above);
}

/// What a multiplier mu says of numbers up to their inflections: c_i = min_lambda [w_i f_i(lambda) - mu kappa_i lambda], and
/// their sum.
struct Supports {
  double mu, sum = 0.0;
  std::array<double, most_numbers> own{};

  Supports(Numbers numbers, double multiplier) : mu(multiplier) {
    static_cast<void>(Residual(numbers, mu, 0.0));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Number& x = numbers[i];
      own[i] = (x.lam != x.theta ? x.weight * x.cost(x.lam) : 0.0) - mu * x.kappa * x.lam;
      sum += own[i];
    }
  }
};

/// Whether the minima with one number beyond its inflection are above `level`, by multipliers of at most `mu`. With number j at x
/// all together cost at least
///   h(x) = w_j f_j(x) - mu kappa_j x + sum_{i != j} c_i ,
/// and at least w_j f_j(x). Beyond the inflection h is concave, so that it is above its chord, up to the x where it is w_j f_j; a
/// smaller multiplier goes on from where the chord comes down to the level.
bool is_above_beyond(Numbers numbers, double mu, double level) {
  constexpr std::size_t most_multipliers = 6;
  std::vector<Supports> known;
  double steepest = 0.0;  // about the largest slope before an inflection: more says nothing else
  for (const Number& x : numbers) {
    if (x.kappa > 0.0 && x.cap < inf)
      steepest = std::max(steepest, 2.0 * x.weight * x.cost(x.cap) / (x.kappa * (x.cap - x.theta)));
  }
  mu = std::min(mu, steepest);
  for (std::size_t j = 0; j < numbers.size(); ++j) {
    if (!(numbers[j].kappa > 0.0 && numbers[j].cap < inf)) continue;
    double from = numbers[j].cap;
    bool above = false;
    for (std::size_t k = 0; k < most_multipliers && !above; ++k) {
      if (k == known.size()) known.emplace_back(numbers, mu * std::pow(0.5, static_cast<double>(k)));
      const Number& x = numbers[j];
      const double others = known[k].sum - known[k].own[j], slope = known[k].mu * x.kappa, last = others / slope;
      if (!(last > from)) continue;
      const double first = x.weight * x.cost(from) - slope * from + others, end = x.weight * x.cost(last);
      above = first > level && end > level;
      if (!(first > level)) return false;
      if (!above) from += (last - from) * (first - level) / (first - end);
    }
    if (!above) return false;
  }
  return true;
}

}  // namespace

double linear_cost(Numbers numbers, double level) {
  assert(numbers.size() <= most_numbers);
  if (has_poles(numbers)) return pole_cost(numbers, level);
  bool convex = true;
  for (Number& x : numbers) {
    x.cap = x.inflection();
    convex = convex && !(x.kappa > 0.0 && x.cap < inf);
  }
  if (convex) return capped_cost(numbers, level);
  if (level < inf) {
    const Dual found = maximise_dual(numbers, 0.0, level);
    const double above = std::max(level + rounding * std::abs(level), std::nextafter(level, inf));
    if (found.value > above && found.mu > 0.0 && is_above_beyond(numbers, found.mu, above)) return above;
  }
  return with_one_beyond(numbers, capped_cost(numbers, inf), level);
}

double convex_cost(Numbers numbers) {
  for (Number& x : numbers) x.cap = x.inflection();
  return capped_cost(numbers, inf);
}

}  // namespace linkarms
