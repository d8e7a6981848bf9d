// The least sum of functions of one form each under one constraint, from below, for evidence/reach_search.hpp.
//
//   minimise  sum_i g_i(x_i)   subject to  sum_i reach_i x_i >= gap,  low <= x <= top
//
// Each g_i is concave in t = x^2 and lies above its chords in t between some places of its box. For any m >= 0 the least sum is
// at least m gap + sum_i min_x (g_i(x) - m reach_i x), which is concave in m; with chords each minimum has a closed form. At the
// best m it is the least sum with each g_i replaced by its convex hull in x, so that no more is lost than by the one or two forms
// that are between two places there.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "evidence/reach_box.hpp"
#include "math/constants.hpp"

namespace linkarms {

/// What one form adds, from below: chords in t between places of its box, densest around `box.at`.
class Chords {
 public:
  double here = 0.0, rise = 0.0;  ///< what is added at `box.at`, and how much more at the upper end than at the lower

  Chords() = default;
  /// `g` is what the form adds at x.
  template <class G>
  Chords(double low, double at, double top, G g) {
    double last = g(low);
    here = at > low ? g(at) : last;
    double x = low;
    const double end = top > low ? g(top) : last;
    rise = end - last;
    base_.fill(inf);
    std::size_t size = 0;
    const auto add = [&](double next, double value) {
      slope_[size] = next > x ? std::max((value - last) / ((next - x) * (next + x)), flat) : flat;
      base_[size] = last - slope_[size] * x * x;
      turn_[size] = 0.5 / slope_[size];
      from_[size] = x;
      to_[size++] = next;
      x = next;
      last = value;
    };
    if (rise > negligible) {
      for (const double factor : places) {
        const double next = factor * at;
        if (next > low * (1.0 + apart) && next < top * (1.0 - apart)) add(next, factor == 1.0 ? here : g(next));
      }
    }
    add(top, end);
  }

  struct Least {
    double value, x, gain;  ///< gain: dx / dtilt
  };
  /// Where what is added less tilt x is least.
  [[nodiscard]] Least least(double tilt) const {
    std::array<double, most> at, value;
    for (std::size_t k = 0; k < most; ++k) {
      at[k] = std::min(std::max(tilt * turn_[k], from_[k]), to_[k]);
      value[k] = base_[k] + (slope_[k] * at[k] - tilt) * at[k];
    }
    std::size_t best = 0;
    for (std::size_t k = 1; k < most; ++k) {
      if (value[k] < value[best]) best = k;
    }
    return {value[best], at[best], at[best] > from_[best] && at[best] < to_[best] ? turn_[best] : 0.0};
  }

 private:
  /// Places between the ends, as shares of `at`: found by counting boxes.
  static constexpr std::array<double, 2> places{1.0, 1.4};
  static constexpr std::size_t most = places.size() + 1;
  static constexpr double negligible = 1e-4;  ///< forms that rise less have one chord
  static constexpr double apart = 1e-6, flat = 1e-300;

  /// From `from` to `to`: base + slope x^2, of which base + slope x^2 - tilt x is least at x = tilt turn.
  std::array<double, most> from_{}, to_{}, base_{}, slope_{}, turn_{};
};

/// The least sum, from below, for the best m within `precision`; `x` is where the forms are for it, and `box.form` becomes that
/// which loses most.
template <class Extra, std::size_t n>
[[nodiscard]] double least_sum(ReachBox<Extra, n>& box, std::span<const Chords> forms, double precision,
                               std::array<double, n>& x) {
  constexpr int most_places = 12;
  constexpr double last_step = 4e-3;  // of m, as a share: what that would gain is of the order of its square
  constexpr double small = 0.02;      // a share of what the bound loses by the best m: a box that loses more is cut anyway
  struct Place {
    double m = 0.0, value = -inf, excess = 0.0;  ///< excess: how far the forms are beyond the gap; minus the slope in m
  };
  std::optional<Place> low, high;
  Place best;
  double weight = 0.0, here = 0.0;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    weight += box.reach[i] * box.at[i];
    here += forms[i].here;
  }
  double m = box.multiplier > 0.0 ? box.multiplier : weight > 0.0 && here > 0.0 ? 2.0 * here / weight : 1.0;
  std::array<double, n> at{};
  for (int turn = 0; turn < most_places; ++turn) {
    Place now{m, m * box.gap, -box.gap};
    double gain = 0.0;
    for (std::size_t i = 0; i < forms.size(); ++i) {
      const Chords::Least least = forms[i].least(m * box.reach[i]);
      now.value += least.value;
      now.excess += box.reach[i] * least.x;
      gain += box.reach[i] * box.reach[i] * least.gain;
      at[i] = least.x;
    }
    if (now.value > best.value) {
      best = now;
      x = at;
    }
    (now.excess < 0.0 ? low : high) = now;
    if (std::abs(now.excess) <= last_step * m * gain) break;
    const double newton = gain > 0.0 ? m - now.excess / gain : (now.excess < 0.0 ? inf : 0.0);
    if (low && high) {
      // the value is nowhere above the point where the tangents of both ends meet
      const double meet =
          (high->value - low->value + high->excess * high->m - low->excess * low->m) / (high->excess - low->excess);
      if (low->value - low->excess * (meet - low->m) - best.value < std::max(precision, small * (here - best.value))) break;
      m = turn % 2 == 0 && newton > low->m && newton < high->m ? newton : meet;
      if (!(m > low->m && m < high->m)) break;  // (rounding)
    } else {
      m = now.excess < 0.0 ? std::min(newton, 4.0 * m) : std::max(newton, 0.25 * m);
    }
  }
  box.multiplier = best.m;
  double most = -1.0;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (!(box.top[i] > box.low[i])) continue;
    const double tilt = best.m * box.reach[i];
    const double lost = forms[i].here - tilt * box.at[i] - forms[i].least(tilt).value + 1e-3 * forms[i].rise;
    if (lost > most) {
      most = lost;
      box.form = i;
    }
  }
  return best.value;
}

}  // namespace linkarms
