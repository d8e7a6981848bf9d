#include "evidence/aligned_directions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "math/constants.hpp"

namespace linkarms {

namespace {

using std::numbers::pi;

double dot(View x, View y) {
  double sum = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
  return sum;
}

/// x + the parts of it along the vectors of `basis` taken away, with length one; nothing if nothing is left.
std::vector<double> beside(std::vector<double> x, const std::vector<std::vector<double>>& basis) {
  const double before = dot(x, x);
  for (int twice = 0; twice < 2; ++twice) {
    for (const auto& b : basis) {
      const double part = dot(b, x);
      for (std::size_t k = 0; k < x.size(); ++k) x[k] -= part * b[k];
    }
  }
  const double after = dot(x, x);
  if (!(after > 1e-20 * before)) return {};
  for (double& value : x) value /= std::sqrt(after);
  return x;
}

/// Orthonormal vectors, three or as many as there are dimensions: along q, in the plane of p and q, any
/// other.
std::vector<std::vector<double>> basis_of(const PairDifferences& pairs) {
  const std::size_t d = pairs.inter.size();
  std::vector<std::vector<double>> out, candidates{pairs.inter, pairs.intra};
  for (std::size_t k = 0; k < std::min<std::size_t>(d, 3); ++k) {
    candidates.emplace_back(d, 0.0);
    candidates.back()[k] = 1.0;
  }
  for (const auto& x : candidates) {
    if (out.size() == std::min<std::size_t>(d, 3)) break;
    std::vector<double> next = beside(x, out);
    if (!next.empty()) out.push_back(std::move(next));
  }
  return out;
}

}  // namespace

PairDifferences::PairDifferences(const AlignedPiece& piece) {
  const View u = piece.mean(role_u), v = piece.mean(role_v), a = piece.shared() ? u : piece.mean(role_a), b = piece.mean(role_b);
  for (std::size_t k = 0; k < u.size(); ++k) {
    intra.push_back(u[k] - v[k]);
    inter.push_back(a[k] - b[k]);
  }
  p = std::sqrt(dot(intra, intra));
  q = std::sqrt(dot(inter, inter));
  angle = p > 0.0 && q > 0.0 ? std::acos(std::clamp(dot(intra, inter) / (p * q), -1.0, 1.0)) : 0.0;
}

std::vector<DirectionBox> FourDirections::everything(double beta) const {
  if (piece_->dimension() > 1) return {{{std::cos(beta)}, {1.0}, -inf}};
  return {{{1.0}, {1.0}, -inf}, {{-1.0}, {-1.0}, -inf}};
}

Frame FourDirections::frame(const Directions& at) const {
  const double t = at[0];
  return {.inter = pairs_.q * t, .outside = pairs_.q * pairs_.q * (1.0 - t * t), .intra = pairs_.p};
}

BoxBound FourDirections::bound(const AlignedDual& dual, double value, const Directions& at, const DirectionBox& box) const {
  const double a = dual.blend()[role_a].across(), b = dual.blend()[role_b].across(), q = pairs_.q, t = at[0];
  const double along = dual.multipliers().nu() * q, across = q * q * a * b / (a + b);
  double worst = inf;
  for (const double end : {box.low[0], box.high[0]})
    worst = std::min(worst, value + (end - t) * (along - 0.5 * across * (end + t)));
  return {worst, 0};
}

Matrix FourDirections::lambda(const AlignedDual& dual, const Directions& at) const {
  const auto basis = basis_of(pairs_);
  const double t = at[0], off = std::sqrt(std::max(0.0, 1.0 - t * t));
  const double a = dual.blend()[role_a].across(), b = dual.blend()[role_b].across();
  const auto& y = dual.along();
  // a pair never quite meets, so that it keeps its direction
  const double inter = std::max(pairs_.q * t - y[role_a] - y[role_b], 1e-7 * pairs_.q);
  const double intra = std::max(pairs_.p + y[role_u] + y[role_v], inter);
  Matrix out(4, piece_->dimension());
  for (Index k = 0; k < piece_->dimension(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    const double e = t * basis[0][i] + (basis.size() > 1 ? off * basis[1][i] : 0.0);
    const double f = pairs_.p > 0.0 ? pairs_.intra[i] / pairs_.p : basis[0][i];
    const double across = pairs_.inter[i] - pairs_.q * t * e;
    out(role_a, k) = piece_->mean(role_a)[i] - y[role_a] * e - b / (a + b) * across;
    out(role_b, k) = out(role_a, k) - inter * e;
    out(role_u, k) = piece_->mean(role_u)[i] + y[role_u] * f;
    out(role_v, k) = out(role_u, k) - intra * f;
  }
  return out;
}

Directions FourDirections::directions(const Vector3& x) const {
  return {std::cos(x[0]), 0.0, 0.0};
}

Vector3 FourDirections::coordinates(const Directions& at) const {
  return {std::acos(std::clamp(at[0], -1.0, 1.0)), 0.0, 0.0};
}

Vector3 FourDirections::first(const AlignedDual& dual) const {
  // turn only if that gains something: the second derivative in beta at beta = 0
  const double a = dual.blend()[role_a].across(), b = dual.blend()[role_b].across();
  return {pairs_.q * a * b / (a + b) >= dual.multipliers().nu() ? 0.0 : 0.2, 0.0, 0.0};
}

Vector3 FourDirections::gradient(const AlignedDual& dual, const Vector3& x) const {
  const double a = dual.blend()[role_a].across(), b = dual.blend()[role_b].across(), q = pairs_.q;
  return {q * std::sin(x[0]) * (q * a * b / (a + b) * std::cos(x[0]) - dual.multipliers().nu()), 0.0, 0.0};
}

std::vector<DirectionBox> SharedDirections::everything(double beta) const {
  std::vector<DirectionBox> out;
  if (piece_->dimension() == 1) {
    for (const double turn : {0.0, pi}) {
      for (const double gamma : {0.0, pi}) out.push_back({{turn, gamma, 1.0}, {turn, gamma, 1.0}, -inf});
    }
  } else if (piece_->dimension() == 2) {
    for (const double t : {1.0, -1.0}) out.push_back({{0.0, 0.0, t}, {beta, pi, t}, -inf});
  } else {
    out.push_back({{0.0, 0.0, -1.0}, {beta, pi, 1.0}, -inf});
  }
  return out;
}

Directions SharedDirections::directions(const Vector3& x) const {
  const double beta = std::hypot(x[0], x[1]);
  return {std::min(beta, pi), std::clamp(x[2], 0.0, pi), beta > 0.0 ? x[0] / beta : 1.0};
}

Vector3 SharedDirections::coordinates(const Directions& at) const {
  return {at[0] * at[2], at[0] * std::sqrt(std::max(0.0, 1.0 - at[2] * at[2])), at[1]};
}

double SharedDirections::cosine_of_chi(const Directions& at) const {
  return std::clamp(std::cos(at[0]) * std::cos(at[1]) + at[2] * std::sin(at[0]) * std::sin(at[1]), -1.0, 1.0);
}

Frame SharedDirections::frame(const Directions& at) const {
  const auto [beta, gamma, t] = at;
  const double q = pairs_.q, intra = pairs_.p * std::cos(std::acos(cosine_of_chi(at)) - pairs_.angle);
  if (piece_->dimension() == 1) {  // exactly: no shift to the side
    const bool opposite = gamma > 1.0;
    return {.sine = opposite ? 1.0 : 0.0, .cosine = opposite ? 0.0 : 1.0, .inter = beta > 1.0 ? -q : q, .intra = intra};
  }
  const double side = q * std::sin(beta);
  return {.sine = std::sin(0.5 * gamma),
          .cosine = std::cos(0.5 * gamma),
          .inter = q * std::cos(beta),
          .side = side * t,
          .outside = side * side * (1.0 - t * t),
          .intra = intra};
}

Matrix SharedDirections::lambda(const AlignedDual& dual, const Directions& at) const {
  const auto basis = basis_of(pairs_);
  const auto d = static_cast<std::size_t>(piece_->dimension());
  const Frame frame = this->frame(at);
  const double cos_chi = cosine_of_chi(at), chi = std::acos(cos_chi), gamma = at[1], level = std::sin(chi) * std::sin(gamma);
  // e seen from f: the cosine between its part perpendicular to f and that of q
  const double t = level > 1e-12 ? std::clamp((std::cos(at[0]) - cos_chi * std::cos(gamma)) / level, -1.0, 1.0) : at[2];
  const double off = std::sqrt(std::max(0.0, 1.0 - t * t));
  std::vector<double> e(d), f(d), g(d), n(d), m(d);
  for (std::size_t k = 0; k < d; ++k) {
    const double x = basis[0][k], y = d > 1 ? basis[1][k] : 0.0, z = d > 2 ? basis[2][k] : 0.0;
    f[k] = cos_chi * x + std::sin(chi) * y;
    const double across = t * (std::sin(chi) * x - cos_chi * y) + off * z;
    e[k] = d > 1 ? std::cos(gamma) * f[k] + std::sin(gamma) * across : (gamma > 1.0 ? -f[k] : f[k]);
    g[k] = std::sin(gamma) * f[k] - std::cos(gamma) * across;
    n[k] = -frame.sine * f[k] + frame.cosine * across;  // (e - f)/|e - f|
    m[k] = frame.cosine * f[k] + frame.sine * across;   // (e + f)/|e + f|
  }
  const double au = dual.blend()[role_u].across(), ab = dual.blend()[role_b].across();
  const auto& z = dual.multipliers();
  const double cross = (z.eta * frame.sine - z.delta * frame.cosine) / au;
  const double qe = dot(pairs_.inter, e), qg = dot(pairs_.inter, g);
  std::vector<double> w(d);  // u's shift
  for (std::size_t k = 0; k < d; ++k) {
    const double outside = d > 2 ? ab / (au + ab) * (pairs_.inter[k] - qe * e[k] - qg * g[k]) : 0.0;
    w[k] = dual.along()[role_u] * n[k] + cross * m[k] + outside;
  }
  const double inter = std::max(qe - dot(w, e) - dual.along()[role_b], 1e-7 * pairs_.q);
  const double intra = std::max(dot(pairs_.intra, f) - dot(w, f) + dual.along()[role_v], inter);
  Matrix out(3, piece_->dimension());
  for (Index k = 0; k < piece_->dimension(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    out(role_u, k) = piece_->mean(role_u)[i] - w[i];
    out(role_b, k) = out(role_u, k) - inter * e[i];
    out(role_v, k) = out(role_u, k) - intra * f[i];
  }
  return out;
}

}  // namespace linkarms
