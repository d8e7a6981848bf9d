// A box of forms that have to reach a gap together, for evidence/reach_search.hpp.
#pragma once

#include <algorithm>
#include <array>

#include "math/constants.hpp"

namespace linkarms {

/// What at most n forms have to reach, and a box of their x. `Extra` belongs to the constraint.
template <class Extra, std::size_t n>
struct ReachBox {
  using Forms = std::array<double, n>;
  Extra extra{};
  Forms reach{};
  double gap = 0.0;
  Forms low{}, high;
  Forms top{};              ///< no more is needed for the gap: the least is where x <= top
  Forms at{};               ///< a place near which its bound is
  double bound = -inf;      ///< log E is at least that
  double value = inf;       ///< log E at `at`
  double rise = 0.0;        ///< of that, what is not there at x = 0
  double multiplier = 0.0;  ///< of the constraint, for the last bound
  bool pending = false;     ///< whether it was not bounded yet
  std::size_t form = 0;     ///< where to cut it

  ReachBox() { high.fill(inf); }
};

/// Minimise sum_m slope_m x_m^2 subject to sum_m reach_m x_m = gap and low <= x <= top. Forms outside their ends are fixed there:
/// those below if the others then have to go less far, else those above.
template <class Extra, std::size_t n>
void minimise(const ReachBox<Extra, n>& box, std::size_t count, const std::array<double, n>& slope, std::array<double, n>& x) {
  const std::array<double, n>& reach = box.reach;
  const double floor = 1e-12 * *std::max_element(slope.begin(), slope.begin() + static_cast<std::ptrdiff_t>(count)) + 1e-300;
  std::array<bool, n> fixed{};
  double left = box.gap;
  for (std::size_t turn = 0; turn < count; ++turn) {
    double total = 0.0, under = 0.0, over = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!fixed[i]) total += reach[i] * reach[i] / std::max(slope[i], floor);
    }
    const double factor = total > 0.0 ? std::max(left, 0.0) / total : 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      if (fixed[i]) continue;
      x[i] = factor * reach[i] / std::max(slope[i], floor);
      under += reach[i] * std::max(box.low[i] - x[i], 0.0);
      over += reach[i] * std::max(x[i] - box.top[i], 0.0);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (fixed[i]) continue;
      if (under >= over && x[i] <= box.low[i]) {
        x[i] = box.low[i];
      } else if (over >= under && x[i] >= box.top[i]) {
        x[i] = box.top[i];
      } else {
        continue;
      }
      fixed[i] = true;
      left -= reach[i] * x[i];
    }
    if (under == over) break;
  }
}

}  // namespace linkarms
