// Descent in three variables by the method of Broyden, Fletcher, Goldfarb and Shanno.
#pragma once

#include <array>

namespace linkarms {

using Vector3 = std::array<double, 3>;

/// From x on, go down on `value`; `gradient` is asked for the last point that was valued. `scale` is a first
/// guess of one over the curvature. Ends where a step is not expected to gain `worth(value)`, or after 25
/// steps.
template <class Value, class Gradient, class Worth>
void descend(Vector3 x, double scale, Value value, Gradient gradient, Worth worth) {
  double here = value(x);
  Vector3 g = gradient(x);
  std::array<Vector3, 3> inverse{{{scale, 0.0, 0.0}, {0.0, scale, 0.0}, {0.0, 0.0, scale}}};
  for (int turn = 0; turn < 25; ++turn) {
    Vector3 step{}, next{}, change{}, y{}, hy{};
    double gain = 0.0, there = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t k = 0; k < 3; ++k) step[i] -= inverse[i][k] * g[k];
      gain -= step[i] * g[i];
    }
    if (!(gain > worth(here))) return;
    for (double size = 1.0;; size *= 0.3) {
      if (size < 0.01) return;
      for (std::size_t i = 0; i < 3; ++i) next[i] = x[i] + size * step[i];
      there = value(next);
      if (there < here - 0.1 * size * gain) break;
    }
    const Vector3 new_g = gradient(next);
    double sy = 0.0, yhy = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      change[i] = next[i] - x[i];
      y[i] = new_g[i] - g[i];
      sy += change[i] * y[i];
    }
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t k = 0; k < 3; ++k) hy[i] += inverse[i][k] * y[k];
      yhy += y[i] * hy[i];
    }
    for (std::size_t i = 0; i < 3 && sy > 1e-12; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        inverse[i][k] += ((1.0 + yhy / sy) * change[i] * change[k] - hy[i] * change[k] - change[i] * hy[k]) / sy;
      }
    }
    x = next;
    g = new_g;
    here = there;
  }
}

}  // namespace linkarms
