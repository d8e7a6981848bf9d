#include "evidence/variance_sectors.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace linkarms {
namespace {

/// Arcs to begin with.
constexpr int first_arcs = 8;
/// Arcs that may lose more are halved where log E is least, before boxes are cut.
constexpr double fine = 0.07;
/// Wider arcs say little about single lambdas.
constexpr double narrow = 0.4;
constexpr long long most_boxes_on_line = 400, most_boxes_in_plane = 6000;

using Direction = std::array<double, 2>;

[[nodiscard]] double dot(const Direction& x, const Direction& y) {
  return x[0] * y[0] + x[1] * y[1];
}
/// x / |x|; any direction for 0.
[[nodiscard]] Direction unit(const Direction& x) {
  const double length = std::sqrt(dot(x, x));
  return length > 0.0 ? Direction{x[0] / length, x[1] / length} : Direction{1.0, 0.0};
}
[[nodiscard]] Direction turned(const Direction& x, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {c * x[0] - s * x[1], s * x[0] + c * x[1]};
}
/// x - y over its length; the first coordinate's direction for 0.
[[nodiscard]] std::vector<double> way(View x, View y) {
  std::vector<double> out(x.size());
  double total = 0.0;
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k] = x[k] - y[k];
    total += out[k] * out[k];
  }
  const double length = std::sqrt(total);
  for (double& c : out) c = length > 0.0 ? c / length : 0.0;
  if (!(length > 0.0)) out[0] = 1.0;
  return out;
}
[[nodiscard]] double distance(View x, View y) {
  double total = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) total += (x[k] - y[k]) * (x[k] - y[k]);
  return std::sqrt(total);
}

}  // namespace

VarianceSectors::Direction VarianceSectors::least_in_disc(const Form& form, const Direction& pull) {
  constexpr int most_steps = 12;
  const auto [xx, yy] = form.units;
  const double xy = form.cross;
  const auto at = [&](double more, const Direction& of) -> Direction {
    const double det = (xx + more) * (yy + more) - xy * xy;
    return {((yy + more) * of[0] - xy * of[1]) / det, ((xx + more) * of[1] - xy * of[0]) / det};
  };
  const double length = std::sqrt(dot(pull, pull)), widest = 0.5 * (xx + yy) + std::hypot(0.5 * (xx - yy), xy);
  if (!(length > 0.0)) return {};
  // on the circle f = (form + more)^-1 pull; from below Newton's method on 1 / |f| comes nearer from one side
  double more = length - widest;
  if (!(more > 0.0)) {
    more = 1e-9 * widest;
    if (const Direction inside = at(more, pull); dot(inside, inside) <= 1.0) return inside;
  }
  Direction f = at(more, pull);
  for (int turn = 0; turn < most_steps; ++turn) {
    const double size = std::sqrt(dot(f, f));
    if (std::abs(size - 1.0) < 1e-6) break;
    more += (size - 1.0) * size * size / dot(f, at(more, f));
    f = at(more, pull);
  }
  return unit(f);
}

bool VarianceSectors::serves(const Model& model, const Witness& w) {
  const bool in_plane = model.n_features() == 2 && model.variances() != Variances::coordinate;
  return model.n_features() == 1 || in_plane || (model.variances() == Variances::separate && !w.shared());
}

VarianceSectors::VarianceSectors(const Samples& samples, const Witness& w, const std::array<const ArmShape*, 4>& shapes,
                                 VarianceAverage average)
    : count_(w.shared() ? 3 : 4), theta_(4, samples.means().cols()), search_(count_, std::move(average)) {
  const Index d = samples.means().cols();
  const std::array<Index, 4> arms{w.u, w.v, w.b, w.a};
  for (std::size_t i = 0; i < 4; ++i) std::ranges::copy(samples.mean(arms[i]), theta_.row(static_cast<Index>(i)).begin());
  for (std::size_t i = 0; i < count_; ++i) {
    const ArmShape& shape = *shapes[i];
    if (shape.covariance.rows() == 0) {
      place_[i].units = {shape.units[0], shape.units[0]};
    } else {
      place_[i].units = {shape.covariance(0, 0), shape.covariance(d - 1, d - 1)};
      place_[i].cross = d > 1 ? shape.covariance(0, 1) : 0.0;
    }
  }
  const View u = theta_.row(0), v = theta_.row(1), b = theta_.row(2), a = theta_.row(3);
  line_ = d == 1 || (count_ == 4 && samples.model().variances() == Variances::separate);
  if (d == 1) {
    p_ = {u[0] - v[0], 0.0};
    q_ = {a[0] - b[0], 0.0};
    way_ = {std::vector{1.0}, std::vector{1.0}};
  } else if (line_) {
    p_ = {distance(u, v), 0.0};
    q_ = {distance(a, b), 0.0};
    way_ = {way(u, v), way(a, b)};
  } else {
    p_ = {u[0] - v[0], u[1] - v[1]};
    q_ = {a[0] - b[0], a[1] - b[1]};
  }
}

void VarianceSectors::enter(Box& box) const {
  Sector& own = box.extra;
  const double shrunk = std::cos(own.half);
  const Direction &e = own.e, f{shrunk * own.f[0], shrunk * own.f[1]};
  own.coefficient = {e, {-e[0], -e[1]}, f, {-f[0], -f[1]}};
  if (count_ == 3) own.coefficient[0] = {e[0] - f[0], e[1] - f[1]};
  for (std::size_t i = 0; i < count_; ++i) {
    const Direction& c = own.coefficient[i];
    box.reach[i] = std::sqrt(std::max(dot(c, place_[i].times(c)), 0.0));
  }
  box.gap = dot(f, q_) - dot(e, p_);
}

std::array<Direction, 4> VarianceSectors::moves(const Box& box, const std::array<double, 4>& x) const {
  std::array<Direction, 4> out{};
  for (std::size_t i = 0; i < count_; ++i) {
    if (!(box.reach[i] > 0.0)) continue;
    const double step = x[i] / box.reach[i];
    const Direction along = place_[i].times(box.extra.coefficient[i]);
    out[i] = {step * along[0], step * along[1]};
  }
  if (count_ == 3) out[3] = out[0];
  return out;
}

// With the multiplier and the chords at x, s = at_zero - turn f, and the bound is concave in f, with a gradient along s: so the
// best f is where f' turn f / 2 - at_zero . f is least in the disc.
bool VarianceSectors::turn(Box& box, const std::array<double, 4>& x) const {
  if (line_) return false;
  const Direction f = box.extra.f, &e = box.extra.e;
  const double shrunk = std::cos(box.extra.half), gap = box.gap;
  Direction at_zero = q_;
  Form turn{};
  for (const std::size_t i : {count_ == 3 ? std::size_t{0} : std::size_t{3}, std::size_t{2}}) {
    if (!(box.reach[i] > 0.0)) continue;
    const double step = x[i] / box.reach[i];
    const Direction along_e = place_[i].times(e);
    turn.add(step * shrunk, place_[i]);
    if (i == 0) at_zero = {at_zero[0] + step * along_e[0], at_zero[1] + step * along_e[1]};
  }
  const Direction moved = turn.times(f), s{at_zero[0] - moved[0], at_zero[1] - moved[1]};
  const double lost = shrunk * (std::sqrt(dot(s, s)) - dot(f, s));
  if (2.0 * box.rise * lost <= 0.25 * Search::precision * gap) return false;
  box.extra.f = least_in_disc(turn, at_zero);
  enter(box);
  if (box.gap > std::min(gap, 0.0)) return true;
  box.extra.f = f;
  enter(box);
  return false;
}

VarianceSectors::Box VarianceSectors::whole(const Sector& sector) {
  Box box;
  box.extra = sector;
  enter(box);
  box.at = box.reach;
  search_.bound(box, [this](Box& own, const std::array<double, 4>& x) { return turn(own, x); });
  return box;
}

std::vector<VarianceSectors::Box> VarianceSectors::halves(const Box& box, double least) {
  const auto& [e, half, f, coefficient] = box.extra;
  if (half == 0.0) return {};
  const double loss = box.gap > 0.0 ? 2.0 * box.rise * (1.0 - std::cos(half)) * dot(f, q_) / box.gap : inf;
  if (loss <= std::max(box.value - box.bound, Search::precision) && (loss <= fine || box.value - loss >= least)) return {};
  std::vector<Box> out;
  for (const double side : {0.5, -0.5}) {
    Box part = box;
    part.extra.e = turned(e, side * half);
    part.extra.half = 0.5 * half;
    enter(part);
    search_.bound(part, [this](Box& own, const std::array<double, 4>& x) { return turn(own, x); });
    out.push_back(part);
  }
  return out;
}

double VarianceSectors::look_near(const Box& box, const Look& look) const {
  constexpr double first_more = 1e-5, most_more = 0.3;
  double reached = 0.0;
  for (std::size_t i = 0; i < count_; ++i) reached += box.reach[i] * box.at[i];
  if (!(reached > 0.0)) return inf;
  const auto step = moves(box, box.at);
  Matrix lam = theta_;
  const double first = std::max(box.gap / reached, 0.0);
  for (double more = 0.0; more < most_more; more = std::max(2.0 * more, first_more)) {
    const double factor = first * (1.0 + more);
    for (std::size_t i = 0; i < 4; ++i) {
      const auto row = static_cast<Index>(i);
      for (Index k = 0; k < lam.cols(); ++k) {
        const auto at = static_cast<std::size_t>(k);
        lam(row, k) = theta_(row, k) + factor * (line_ ? step[i][0] * way_[i < 2 ? 0 : 1][at] : step[i][at]);
      }
    }
    if (distance(lam.row(0), lam.row(1)) >= distance(lam.row(3), lam.row(2)) * (1.0 - 1e-12)) return look(lam);
  }
  return inf;
}

std::vector<VarianceSectors::Sector> VarianceSectors::cover() const {
  const Direction of_p = unit(p_), of_q = unit(q_);
  if (line_) return {{.e = {-of_p[0], 0.0}, .half = 0.0, .f = of_q}, {.e = of_p, .half = 0.0, .f = of_q}};
  std::vector<Sector> out;
  constexpr double half = std::numbers::pi / first_arcs;
  for (int i = 0; i < first_arcs; ++i) out.push_back({.e = turned(of_p, 2.0 * half * i), .half = half, .f = of_q});
  return out;
}

double VarianceSectors::infimum(double enough, double too_little, const Look& look) {
  std::vector<Box> boxes;
  for (const Sector& sector : cover()) boxes.push_back(whole(sector));
  return search_.infimum(
      std::move(boxes), enough, too_little, line_ ? most_boxes_on_line : most_boxes_in_plane,
      [&](const Box& box) { return box.extra.half < narrow ? look_near(box, look) : inf; },
      [&](const Box& box, double least) { return halves(box, least); },
      [this](Box& box, const std::array<double, 4>& x) { return turn(box, x); });
}

}  // namespace linkarms
