#include "pair/tolerant.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "pair/covariance.hpp"
#include "pair/scalar.hpp"
#include "pair/tolerant_vector.hpp"

namespace linkarms {
namespace {

using Plane = std::array<double, 2>;

double dot(const Plane& x, const Plane& y) {
  return x[0] * y[0] + x[1] * y[1];
}
double norm(const Plane& x) {
  return std::hypot(x[0], x[1]);
}

/// t gap - t^2 width / 2 - t |p - t i h| at its maximum over t >= 0: concave in t, so Newton's method inside a bracket.
/// `pp` = |p|^2, `ph` = p.h.
double best_multiplier(double gap, double width, double pp, double ph, double i) {
  const double length = std::sqrt(pp);
  double low = 0.0, high = (gap + length) / std::max(width - 2.0 * i, 1e-300);
  double t = std::max(gap - length, 0.0) / (width + 2.0 * i);
  if (t <= 0.0) t = 0.5 * high;
  for (int turn = 0; turn < 60; ++turn) {
    const double s = std::sqrt(std::max(pp - 2.0 * t * i * ph + t * t * i * i, 1e-300)), x = (t * i * i - i * ph) / s;
    const double slope = gap - t * width - s - t * x;
    const double bend = -width - 2.0 * x - t * (i * i - x * x) / s;
    (slope > 0.0 ? low : high) = t;
    double next = bend < 0.0 ? t - slope / bend : 0.5 * (low + high);
    if (!(low < next && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - t) <= 1e-14 * t) return next;
    t = next;
  }
  return t;
}

TolerantMove shared_on_line(const TolerantLengths& at, const std::array<double, 4>& spread) {
  const auto [iu, iv, ib, ia] = spread;
  const bool same_side = at.r <= std::max(at.p, at.q);  // r is |p - q|, else p + q
  const double along = same_side ? at.p : -at.p;        // the intra pair, seen in the direction of the inter pair
  TolerantMove best{inf};
  for (const double s : {1.0, -1.0}) {
    const double gap = at.eps + at.q - s * along, width = (s > 0.0 ? 0.0 : 4.0 * iu) + iv + ib;
    if (gap <= 0.0) return {};
    const double cost = gap * gap / (2.0 * width);
    if (cost < best.cost) best = {cost, gap / width, gap / width, {s, 0.0}, {1.0, 0.0}};
  }
  return best;
}

TolerantMove shared_in_space(const TolerantLengths& at, const std::array<double, 4>& spread) {
  const auto [iu, iv, ib, ia] = spread;
  constexpr int turns = 4;  // of h: it converges fast, and any h is safe
  const double cosine =
      at.q > 0.0 && at.p > 0.0 ? std::clamp((at.p * at.p + at.q * at.q - at.r * at.r) / (2.0 * at.p * at.q), -1.0, 1.0) : 1.0;
  const Plane p{at.p * cosine, at.p * std::sqrt(std::max(1.0 - cosine * cosine, 0.0))};
  const double width = iv + ib + 2.0 * iu;
  TolerantMove best{-1.0};
  Plane h{1.0, 0.0};
  for (int turn = 0; turn < turns; ++turn) {
    const double gap = at.eps + h[0] * at.q, t = best_multiplier(gap, width, at.p * at.p, dot(p, h), iu);
    Plane e{p[0] - t * iu * h[0], p[1] - t * iu * h[1]};
    const double length = norm(e), cost = t * gap - 0.5 * t * t * width - t * length;
    // where p - t i_u h vanishes, any direction is as good
    e = length > 0.0 ? Plane{e[0] / length, e[1] / length} : Plane{-h[0], -h[1]};
    if (cost > best.cost) best = {cost, t, t, e, h};
    const Plane end{at.q + t * iu * (e[0] - h[0]) - t * ib * h[0], t * iu * (e[1] - h[1]) - t * ib * h[1]};
    const double size = norm(end);
    if (!(size > 0.0)) break;
    h = {end[0] / size, end[1] / size};
  }
  if (best.cost <= 0.0) return {};
  return best;
}

TolerantMove four_arms(const TolerantLengths& at, const std::array<double, 4>& spread) {
  const auto [iu, iv, ib, ia] = spread;
  const double gap = at.q - at.p + at.eps, intra = iu + iv, inter = ia + ib, total = intra + inter;
  if (gap <= 0.0) return {};
  if (inter * gap <= at.q * total) return {gap * gap / (2.0 * total), gap / total, gap / total};
  const double rest = std::max(at.eps - at.p, 0.0);  // the inter pair meets
  return {at.q * at.q / (2.0 * inter) + rest * rest / (2.0 * intra), rest / intra, at.q / inter};
}

}  // namespace

std::array<double, 4> TolerantMove::squares(const std::array<double, 4>& spread, bool shared) const {
  const auto [iu, iv, ib, ia] = spread;
  const auto square = [](double x) { return x * x; };
  const double turned = 2.0 * std::max(1.0 - dot(e, h), 0.0);
  return {square(t * iu) * (shared ? turned : 1.0), square(t * iv), square(t_inter * ib), shared ? 0.0 : square(t_inter * ia)};
}

TolerantMove tolerant_move(const TolerantLengths& lengths, const std::array<double, 4>& spread) {
  if (lengths.q + lengths.eps <= lengths.p) return {};
  if (!lengths.shared) return four_arms(lengths, spread);
  return lengths.line ? shared_on_line(lengths, spread) : shared_in_space(lengths, spread);
}

TolerantMove tolerant_move(const Weighted& at, const Witness& w, double eps, bool line) {
  const TolerantLengths lengths{
      at.dist(w.u, w.v), at.dist(w.a, w.b) - eps, w.shared() ? at.dist(w.v, w.b) - eps : 0.0, eps, w.shared(), line};
  return tolerant_move(lengths, {at.spread[w.u], at.spread[w.v], at.spread[w.b], at.spread[w.a]});
}

void apply_move(const Weighted& at, const Witness& w, const TolerantMove& to, Matrix& lam) {
  const auto [u, v, a, b] = w;
  if (to.t <= 0.0 && to.t_inter <= 0.0) return;
  const Index d = at.theta.cols();
  std::vector<double> along(d, 0.0), across(d, 0.0);
  double q = 0.0, pq = 0.0, size = 0.0;
  for (Index i = 0; i < d; ++i) {
    along[i] = at.theta(a, i) - at.theta(b, i);
    q += along[i] * along[i];
  }
  q = std::sqrt(q);
  for (Index i = 0; i < d; ++i) along[i] = q > 0.0 ? along[i] / q : (i == 0 ? 1.0 : 0.0);
  for (Index i = 0; i < d; ++i) pq += (at.theta(u, i) - at.theta(v, i)) * along[i];
  for (Index i = 0; i < d; ++i) {
    across[i] = (at.theta(u, i) - at.theta(v, i)) - pq * along[i];
    size += across[i] * across[i];
  }
  size = std::sqrt(size);
  const double p = std::hypot(pq, size);
  for (Index i = 0; i < d; ++i) {
    const double side = size > 0.0 ? across[i] / size : 0.0;
    const double h = to.h[0] * along[i] + to.h[1] * side;
    // of four arms each pair moves along itself
    const double own = p > 0.0 ? (at.theta(u, i) - at.theta(v, i)) / p : along[i];
    const double e = w.shared() ? to.e[0] * along[i] + to.e[1] * side : own;
    lam(u, i) += to.t * at.spread[u] * (w.shared() ? e - h : e);
    lam(v, i) -= to.t * at.spread[v] * e;
    lam(b, i) += to.t_inter * at.spread[b] * h;
    if (!w.shared()) lam(a, i) -= to.t_inter * at.spread[a] * h;
  }
}

namespace {

/// Gaussian arms with one variance each.
class TolerantIsotropicPairs final : public PairProblem {
 public:
  TolerantIsotropicPairs(const Model& model, double eps) : pairs_(model), eps_(eps), line_(model.n_features() == 1) {}

  double cost(const Weighted& at, const Witness& w, double) override { return tolerant_move(at, w, eps_, line_).cost; }
  void solve(const Weighted& at, const Witness& w, Matrix& lam) override {
    apply_move(at, w, tolerant_move(at, w, eps_, line_), lam);
  }
  [[nodiscard]] double spread(Index m, View theta, double weight, double level) const override {
    return pairs_.spread(m, theta, weight, level);
  }
  [[nodiscard]] bool has_fixed_spread() const override { return true; }

 private:
  IsotropicPairs pairs_;
  double eps_;
  bool line_;
};

/// Gaussian arms with full covariances: the larger of two lower bounds, without a tolerance and at the largest
/// variances.
class TolerantCovariancePairs final : public PairProblem {
 public:
  TolerantCovariancePairs(const Model& model, double eps) : plain_(model), bounds_(model, eps), eps_(eps) {}

  double cost(const Weighted& at, const Witness& w, double level) override {
    const double bound = isotropic_bound(at.dist, at.spread, w);
    // without a tolerance there is no cost where the intra pair is the longer one
    if (bound > level || at.dist(w.a, w.b) - eps_ <= at.dist(w.u, w.v)) return bound;
    return std::max(bound, plain_.cost(at, w, inf));
  }
  void solve(const Weighted& at, const Witness& w, Matrix& lam) override {
    const double bound = isotropic_bound(at.dist, at.spread, w);
    const bool plain = at.dist(w.a, w.b) - eps_ > at.dist(w.u, w.v) && plain_.cost(at, w, inf) > bound;
    plain ? plain_.solve(at, w, lam) : bounds_.solve(at, w, lam);
  }
  [[nodiscard]] double spread(Index m, View theta, double weight, double level) const override {
    return plain_.spread(m, theta, weight, level);
  }
  [[nodiscard]] bool has_fixed_spread() const override { return true; }

 private:
  CovariancePairs plain_;
  TolerantIsotropicPairs bounds_;
  double eps_;
};

}  // namespace

std::unique_ptr<PairProblem> make_tolerant_problem(const Model& model, double tolerance) {
  switch (model.kind()) {
    case Kind::isotropic:
    case Kind::unknown_variance:
      return std::make_unique<TolerantIsotropicPairs>(model, tolerance);
    case Kind::scalar:
      return std::make_unique<ScalarPairs>(model, tolerance);
    case Kind::covariance:
      return std::make_unique<TolerantCovariancePairs>(model, tolerance);
    case Kind::vector:
      return std::make_unique<TolerantVectorPairs>(model, tolerance);
  }
  throw std::logic_error("a kind of model without a pair problem");
}

}  // namespace linkarms
