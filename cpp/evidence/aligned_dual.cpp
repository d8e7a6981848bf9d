#include "evidence/aligned_dual.hpp"

#include <algorithm>
#include <cmath>

#include "math/constants.hpp"

namespace linkarms {

namespace {

using Vector3 = std::array<double, 3>;
using Matrix3 = std::array<Vector3, 3>;

/// 1 / (1/x + 1/y).
double parallel(double x, double y) {
  return x * y / (x + y);
}

/// The solution of curvature * step = gradient in the variables that are free, zero in the others, by
/// Cholesky's factor.
Vector3 newton_step(const Matrix3& curvature, const Vector3& gradient, const std::array<bool, 3>& free) {
  Matrix3 low{};
  Vector3 x{};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!free[i]) continue;
    for (std::size_t j = 0; j <= i; ++j) {
      if (!free[j]) continue;
      double sum = curvature[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= low[i][k] * low[j][k];
      low[i][j] = i == j ? std::sqrt(std::max(sum, 1e-14 * curvature[i][i])) : sum / low[j][j];
    }
    x[i] = gradient[i];
    for (std::size_t k = 0; k < i; ++k) x[i] -= low[i][k] * x[k];
    x[i] /= low[i][i];
  }
  for (std::size_t i = 3; i-- > 0;) {
    if (!free[i]) continue;
    for (std::size_t k = i + 1; k < 3; ++k) x[i] -= low[k][i] * x[k];
    x[i] /= low[i][i];
  }
  return x;
}

}  // namespace

AlignedDual::AlignedDual(const AlignedPiece& piece, const std::array<Shift, 4>& w, double mu) : piece_(&piece) {
  at_.z.mu = mu;
  for (std::size_t m = 0; m < w.size(); ++m) at_.along[m] = w[m].along;
  piece.responsibilities(w, share_);
}

AlignedDual::Point AlignedDual::evaluate(const Frame& frame, const Multipliers& z) const {
  const double mu = z.mu, nu = z.nu(), eta = z.eta, s = frame.sine, c = frame.cosine;
  const bool shared = piece_->shared();
  const Profile &u = blend_[role_u], &b = blend_[role_b], &a = shared ? u : blend_[role_a];
  Point out;
  out.z = z;
  const auto at = [&](std::size_t m, double t) {
    const Profile::Conjugate k = blend_[m].conjugate(t, at_.along[m] + at_.spread[m] * (t - at_.force[m]));
    out.along[m] = k.y;
    out.spread[m] = k.spread;
    out.force[m] = t;
    return k;
  };
  const Profile::Conjugate kv = at(role_v, mu), kb = at(role_b, nu), ku = at(role_u, shared ? (mu + nu) * s - eta * c : mu);
  const double base = blend_.constant() + nu * frame.inter + eta * frame.side - mu * frame.intra +
                      0.5 * frame.outside * parallel(a.across(), b.across());
  // gradient and minus the Hessian in the order nu, mu, eta
  Vector3 g{};
  Matrix3 h{};
  if (shared) {
    const double cross = (eta * s - z.delta * c) / u.across(), side = eta / b.across();
    out.value = base + ku.value + kv.value + kb.value - 0.5 * (cross * cross * u.across() + side * side * b.across());
    g = {-ku.y * s - cross * c - kb.y + frame.inter, -ku.y * s + cross * c - kv.y - frame.intra,
         ku.y * c - cross * s - side + frame.side};
    const Vector3 x{s, s, -c}, y{c, -c, s};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) h[i][j] = ku.spread * x[i] * x[j] + y[i] * y[j] / u.across();
    }
    h[0][0] += kb.spread;
    h[1][1] += kv.spread;
    h[2][2] += 1.0 / b.across();
  } else {
    const Profile::Conjugate ka = at(role_a, nu);
    out.value = base + ku.value + kv.value + kb.value + ka.value;
    g = {-ka.y - kb.y + frame.inter, -ku.y - kv.y - frame.intra, 0.0};
    h[0][0] = ka.spread + kb.spread;
    h[1][1] = ku.spread + kv.spread;
  }
  // nu = mu - delta
  out.gradient = {g[0] + g[1], -g[0], g[2]};
  out.curvature = {{{h[0][0] + 2.0 * h[0][1] + h[1][1], -h[0][0] - h[0][1], h[0][2] + h[1][2]},
                    {-h[0][0] - h[0][1], h[0][0], -h[0][2]},
                    {h[0][2] + h[1][2], -h[0][2], h[2][2]}}};
  return out;
}

bool AlignedDual::is_still(const Frame& frame) const {
  return piece_->shared() && piece_->dimension() == 1 && frame.sine == 0.0;
}

void AlignedDual::climb(const Frame& frame, double close) {
  const bool turns = piece_->shared() && piece_->dimension() > 1;
  // the gradient is what the minimiser lacks of the constraints: where arms move at nearly no cost, it may be large where
  // there is nothing to gain
  const double lack = 1e-3 * (std::abs(frame.inter) + std::abs(frame.intra) + std::sqrt(frame.outside));
  at_ = evaluate(frame, at_.z);
  for (int turn = 0; turn < 40; ++turn) {
    const Vector3& g = at_.gradient;
    const std::array<bool, 3> free{at_.z.mu > 0.0 || g[0] > 0.0, at_.z.delta > 0.0 || g[1] > 0.0, turns};
    const Vector3 step = newton_step(at_.curvature, g, free);
    double gain = 0.0, most = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      gain += g[i] * step[i];
      most = std::max(most, free[i] ? std::abs(g[i]) : 0.0);
    }
    if (!(gain > close || most > lack)) return;
    Point next;
    for (double size = 1.0;; size *= 0.5) {
      if (size < 1e-6) return;
      next = evaluate(frame, {std::max(at_.z.mu + size * step[0], 0.0), std::max(at_.z.delta + size * step[1], 0.0),
                              at_.z.eta + size * step[2]});
      if (next.value > at_.value - 1e-12 * (1.0 + std::abs(at_.value))) break;
    }
    at_ = next;
  }
}

std::array<Shift, 4> AlignedDual::shifts(const Frame& frame) const {
  std::array<Shift, 4> w;
  for (std::size_t m = 0; m < w.size(); ++m) w[m] = {at_.along[m], at_.along[m] * at_.along[m]};
  const std::size_t a = piece_->role_of_a();
  const double of_a = blend_[a].across(), of_b = blend_[role_b].across(), total = of_a + of_b;
  w[a].square += frame.outside * (of_b / total) * (of_b / total);
  w[role_b].square += frame.outside * (of_a / total) * (of_a / total);
  if (piece_->shared()) {
    const double cross = (at_.z.eta * frame.sine - at_.z.delta * frame.cosine) / of_a, side = at_.z.eta / of_b;
    w[a].square += cross * cross;
    w[role_b].square += side * side;
    w[a].still = is_still(frame);
  }
  return w;
}

double AlignedDual::solve(const Frame& frame, double level, double gap, const std::function<bool(double)>& enough) {
  const double small = 0.1 * gap;  // of what is left undone
  constexpr double tiny = 1e-7;    // a share that does not count
  // the bound is concave in the shares g; towards r, those of E at the minimiser, it rises with the slope
  // sum_k (r_k - g_k) log(r_k/g_k), and a parabola says how far to go
  Point best;
  best.value = -inf;
  double size = 1.0, slope = 0.0;
  for (int turn = 0; turn < 40; ++turn) {
    blend_.set(*piece_, is_still(frame), share_, small);
    climb(frame, small);
    if (enough && enough(at_.value)) return at_.value;
    const double rise = at_.value - best.value;
    if (turn > 0) size = std::clamp(0.5 * slope * size * size / std::max(slope * size - rise, 1e-300), 0.1 * size, 1.0);
    if (rise > 0.0) {
      best = at_;
      from_ = share_;
      primal_ = piece_->responsibilities(shifts(frame), answer_);
      if (primal_ - best.value < std::max(gap, 0.1 * (best.value - level))) return best.value;
      slope = 0.0;
      for (std::size_t k = 0; k < from_.size(); ++k) {
        if (from_[k] > tiny && answer_[k] > tiny) slope += (answer_[k] - from_[k]) * std::log(answer_[k] / from_[k]);
      }
    }
    if (size < 1e-4) break;
    for (std::size_t k = 0; k < from_.size(); ++k) share_[k] = (1.0 - size) * from_[k] + size * answer_[k];
  }
  share_ = from_;
  at_ = best;
  blend_.set(*piece_, is_still(frame), share_, small);
  return best.value;
}

}  // namespace linkarms
