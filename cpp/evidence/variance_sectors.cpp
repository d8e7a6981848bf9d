#include "evidence/variance_sectors.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace linkarms {
namespace {

/// Arcs to begin with, and the half-width of the last that are tried.
constexpr int first_arcs = 12;
constexpr double least_half = 0.01;
/// Boxes take little time here: so many times as many as elsewhere, and how many before an arc is halved.
constexpr double more_boxes = 8.0, boxes_per_arc = 96.0;
/// Wider arcs say little about single lambdas.
constexpr double narrow = 0.4;
/// Goals that go from one sector to the next.
constexpr int most_kept = 3;

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

}  // namespace

bool VarianceSectors::serves(const Model& model, const Witness& w) {
  const bool in_plane = model.n_features() == 2 && model.variances() != Variances::coordinate;
  return model.n_features() == 1 || in_plane || (model.variances() == Variances::separate && !w.shared());
}

VarianceSectors::VarianceSectors(const Samples& samples, const Witness& w, const std::array<const ArmShape*, 4>& shapes)
    : count_(w.shared() ? 3 : 4) {
  const Index d = samples.means().cols();
  const std::array<Index, 4> arms{w.u, w.v, w.b, w.a};
  for (std::size_t i = 0; i < count_; ++i) {
    const ArmShape& shape = *shapes[i];
    if (shape.covariance.rows() == 0) {
      place_[i].units = {shape.units[0], shape.units[0]};
    } else {
      place_[i].units = {shape.covariance(0, 0), shape.covariance(d - 1, d - 1)};
      place_[i].cross = d > 1 ? shape.covariance(0, 1) : 0.0;
    }
  }
  line_ = d == 1 || (count_ == 4 && samples.model().variances() == Variances::separate);
  const View u = samples.mean(arms[0]), v = samples.mean(arms[1]), b = samples.mean(arms[2]), a = samples.mean(arms[3]);
  double pp = 0.0, qq = 0.0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(d); ++k) {
    pp += (u[k] - v[k]) * (u[k] - v[k]);
    qq += (a[k] - b[k]) * (a[k] - b[k]);
  }
  if (d == 1 || !line_) {
    theta_ = Matrix(4, d);
    for (std::size_t i = 0; i < count_; ++i) std::ranges::copy(samples.mean(arms[i]), theta_.row(static_cast<Index>(i)).begin());
  }
  if (d == 1) {
    p_ = {u[0] - v[0], 0.0};
    q_ = {a[0] - b[0], 0.0};
  } else if (line_) {
    p_ = {std::sqrt(pp), 0.0};
    q_ = {std::sqrt(qq), 0.0};
  } else {
    p_ = {u[0] - v[0], u[1] - v[1]};
    q_ = {a[0] - b[0], a[1] - b[1]};
  }
  forms_.reach.resize(count_);
}

double VarianceSectors::ReachForms::solve_at(std::span<const double> weight, std::span<double> t) {
  double total = 0.0;
  for (std::size_t k = 0; k < reach.size(); ++k) total += reach[k] * reach[k] / weight[k];
  const double scale = total > 0.0 ? std::max(gap, 0.0) / total : 0.0;
  for (std::size_t k = 0; k < reach.size(); ++k) {
    const double x = scale * reach[k] / weight[k];
    t[k] = x * x;
  }
  last.assign(t.begin(), t.end());
  return gap > 0.0 ? (total > 0.0 ? gap * gap / total : inf) : 0.0;
}

void VarianceSectors::enter(const Sector& sector) {
  const double shrunk = std::cos(sector.half);
  const Direction &e = sector.e, f{shrunk * sector.f[0], shrunk * sector.f[1]};
  coefficient_ = {e, {-e[0], -e[1]}, f, {-f[0], -f[1]}};
  if (count_ == 3) coefficient_[0] = {e[0] - f[0], e[1] - f[1]};
  for (std::size_t i = 0; i < count_; ++i) {
    const Direction& c = coefficient_[i];
    const auto& [units, cross] = place_[i];
    const double square = units[0] * c[0] * c[0] + units[1] * c[1] * c[1] + 2.0 * cross * c[0] * c[1];
    forms_.reach[i] = std::sqrt(std::max(square, 0.0));
  }
  forms_.gap = dot(f, q_) - dot(e, p_);
}

std::array<Direction, 4> VarianceSectors::moves(std::span<const double> t) const {
  std::array<Direction, 4> out{};
  for (std::size_t i = 0; i < count_; ++i) {
    const Direction& c = coefficient_[i];
    const auto& [units, cross] = place_[i];
    if (!(forms_.reach[i] > 0.0)) continue;
    const double step = std::sqrt(t[i]) / forms_.reach[i];
    out[i] = {step * (units[0] * c[0] + cross * c[1]), step * (cross * c[0] + units[1] * c[1])};
  }
  if (count_ == 3) out[3] = out[0];
  return out;
}

// What was found for an arc is a little short of the constraint.
bool VarianceSectors::is_low(std::span<const double> t, const Look& look) const {
  constexpr double most = 1.3;
  const auto step = moves(t);
  for (double factor = 1.0; factor < most; factor *= 1.02) {
    const auto after = [&](const Direction& x, std::size_t i, std::size_t j) {
      return Direction{x[0] + factor * (step[i][0] - step[j][0]), x[1] + factor * (step[i][1] - step[j][1])};
    };
    const Direction w = after(p_, 0, 1), s = after(q_, 3, 2);
    if (dot(w, w) < dot(s, s)) continue;
    Matrix lam = theta_;
    for (std::size_t i = 0; i < count_; ++i) {
      for (Index k = 0; k < lam.cols(); ++k) lam(static_cast<Index>(i), k) += factor * step[i][static_cast<std::size_t>(k)];
    }
    return look(lam);
  }
  return false;
}

bool VarianceSectors::is_reached(std::span<const double> caps, std::span<const double> start, const ProposeGoal& propose,
                                 const Look& look, double patience) {
  std::optional<ConcaveGoal> first = propose(start);
  if (!first) return false;
  std::vector<double> weight, t(caps.size());
  for (std::size_t k = 0; k < caps.size(); ++k) weight.push_back(std::max(first->rises[k].slope(start[k]), 1e-300));
  ProofState state{{}, 0.0};
  double boxes = more_boxes * patience * most_boxes(caps.size());
  const Direction of_p = unit(p_), of_q = unit(q_);
  std::vector<Sector> open;
  if (line_) {
    open = {{{-of_p[0], 0.0}, 0.0, of_q}, {of_p, 0.0, of_q}};
  } else {
    constexpr double half = std::numbers::pi / first_arcs;
    for (int i = first_arcs; i-- > 0;) open.push_back({turned(of_p, 2.0 * half * i), half, of_q});
  }
  while (!open.empty()) {
    Sector sector = open.back();
    open.pop_back();
    for (int turn = 0; turn < 2; ++turn) {
      enter(sector);
      forms_.solve(weight, t);
      const auto step = moves(t);
      sector.f = unit({q_[0] + step[3][0] - step[2][0], q_[1] + step[3][1] - step[2][1]});
    }
    enter(sector);
    if (state.goals.size() > most_kept) state.goals.erase(state.goals.begin() + most_kept, state.goals.end());
    const double later = line_ ? 0.0 : std::max(boxes - boxes_per_arc, 0.0);
    state.boxes = boxes - later;
    const bool reached = linkarms::is_reached(forms_, caps, start, propose, state);
    boxes = later + state.boxes;
    if (reached) continue;
    if (theta_.rows() > 0 && sector.half < narrow && is_low(forms_.last, look)) return false;
    if (sector.half < 2.0 * least_half || !(boxes > 0.0)) return false;
    const double half = 0.5 * sector.half;
    open.push_back({turned(sector.e, half), half, sector.f});
    open.push_back({turned(sector.e, -half), half, sector.f});
  }
  return true;
}

}  // namespace linkarms
