// The pair problem for Gaussian arms with one variance each: the closed forms of section 2.1 of math.md.
//
// `spread[m]` is i_m = variance_m / w_m. Witnesses are oriented: a shared arm is u = a. Nothing here
// allocates.
#pragma once

#include <algorithm>
#include <cmath>

#include "linkage/distances.hpp"
#include "math/matrix.hpp"
#include "pair/witness.hpp"

namespace linkarms {

/// A lower bound of the cost from gap = |q| - |p| > 0; exact for four different arms.
///   four arms:      gap^2 / (2 (i_u + i_v + i_a + i_b))
///   shared u = a:   gap^2 / (2 (4 i_u + i_v + i_b))
[[nodiscard]] inline double isotropic_bound(double gap, View spread, const Witness& w) {
  const double total =
      w.shared() ? 4.0 * spread[w.u] + spread[w.v] + spread[w.b] : (spread[w.u] + spread[w.v]) + (spread[w.a] + spread[w.b]);
  return gap * gap / (2.0 * total);
}
[[nodiscard]] inline double isotropic_bound(const Distances& dist, View spread, const Witness& w) {
  const double gap = dist(w.a, w.b) - dist(w.u, w.v);
  return gap > 0.0 ? isotropic_bound(gap, spread, w) : 0.0;
}

/// The cost for a shared arm u from three lengths: p of (u, v), q of (u, b), r of (v, b); and the spreads of
/// u, v, b. In the closed form f = h. With j = i_v + i_b, f = i_u + (j + sqrt(j (j + 4 i_u)))/2 and c = i_u /
/// f it becomes
///   ((q^2 - p^2) / (|p - c q| + |q - c p|))^2 / (2 f),   |p - c q|^2 = c r^2 + (1 - c)(p^2 - c q^2).
[[nodiscard]] inline double shared_cost(double p, double q, double r, double iu, double iv, double ib) {
  if (q <= p) return 0.0;
  const double j = iv + ib;
  const double half = 0.5 * (j + std::sqrt(j * (j + 4.0 * iu)));
  const double f = iu + half;
  const double c = iu / f, rest = half / f;  // rest = 1 - c, without cancellation
  // rounding may leave a square just below zero where p is parallel to q
  const double x = std::sqrt(std::max(c * r * r + rest * (p * p - c * q * q), 0.0));
  const double y = std::sqrt(std::max(c * r * r + rest * (q * q - c * p * p), 0.0));
  const double g = (q - p) * (q + p) / (x + y);
  return 0.5 * g * g / f;
}

/// min sum_m |lambda_m - theta_m|^2 / (2 i_m) subject to |lambda_u - lambda_v| >= |lambda_a - lambda_b|.
[[nodiscard]] inline double isotropic_cost(const Distances& dist, View spread, const Witness& w) {
  if (!w.shared()) return isotropic_bound(dist, spread, w);
  return shared_cost(dist(w.u, w.v), dist(w.u, w.b), dist(w.v, w.b), spread[w.u], spread[w.v], spread[w.b]);
}

/// Move the rows u, v, a, b of `lam`, which hold theta, to the minimiser of the cost. The order of the
/// operations decides ties in recorded runs: keep it.
inline void isotropic_solution(const Matrix& theta, const Distances& dist, View spread, const Witness& w, Matrix& lam) {
  const auto [u, v, a, b] = w;
  const double intra = dist(u, v), inter = dist(a, b), gap = inter - intra;
  if (gap <= 0.0) return;
  const double iu = spread[u], iv = spread[v], ib = spread[b];
  if (!w.shared()) {
    const double g = gap / (iu + iv + spread[a] + ib);
    for (Index i = 0; i < theta.cols(); ++i) {
      const double q = (theta(a, i) - theta(b, i)) / inter;
      // equal arms move apart along any direction: the inter pair's
      const double p = intra > 0.0 ? (theta(u, i) - theta(v, i)) / intra : q;
      lam(u, i) += iu * g * p;
      lam(v, i) -= iv * g * p;
      lam(a, i) -= spread[a] * g * q;
      lam(b, i) += ib * g * q;
    }
    return;
  }
  const double det = iu * iv + iu * ib + iv * ib, e = iv - ib, s = std::sqrt(e * e + 4.0 * det);
  // of the two roots the one without cancellation; their product is det
  const double nu = e >= 0.0 ? (s + e) / 2.0 : det / ((s - e) / 2.0);
  const double n = e >= 0.0 ? det / nu : (s - e) / 2.0;
  const double f = iu + ib + nu, h = iu + iv + n;
  double aa = 0.0, bb = 0.0;
  for (Index i = 0; i < theta.cols(); ++i) {
    const double p = theta(u, i) - theta(v, i), q = theta(u, i) - theta(b, i);
    const double x = f * p - iu * q, y = h * q - iu * p;
    aa += x * x;
    bb += y * y;
  }
  const double alpha = std::sqrt(aa / (s * f)), beta = std::sqrt(bb / (s * h));
  const double g = gap * (inter + intra) / (s * (alpha + beta));
  const double root_f = std::sqrt(s * f), root_h = std::sqrt(s * h);
  for (Index i = 0; i < theta.cols(); ++i) {
    const double p = theta(u, i) - theta(v, i), q = theta(u, i) - theta(b, i);
    const double unit_b = (h * q - iu * p) / (root_h * beta);
    const double unit_a = alpha > 0.0 ? (f * p - iu * q) / (root_f * alpha) : unit_b;
    const double yp = g * (std::sqrt(f / s) * unit_a + iu / root_h * unit_b);
    const double yq = -g * (iu / root_f * unit_a + std::sqrt(h / s) * unit_b);
    lam(u, i) += iu * (yp + yq);
    lam(v, i) -= iv * yp;
    lam(b, i) -= ib * yq;
  }
}

}  // namespace linkarms
