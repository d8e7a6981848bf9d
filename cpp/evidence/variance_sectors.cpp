#include "evidence/variance_sectors.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "evidence/direction_cells.hpp"
#include "evidence/reach_search.hpp"

namespace linkarms {
namespace {

/// Cells that may lose more are halved where log E is least, before boxes are cut.
constexpr double fine = 0.15;
/// What cells lose, as a share of the most that it can be: found by counting boxes.
constexpr double usual_share = 0.2;
constexpr long long most_boxes_on_line = 400, most_boxes = 6000;

[[nodiscard]] std::vector<double> difference(View x, View y) {
  std::vector<double> out(x.size());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = x[k] - y[k];
  return out;
}
[[nodiscard]] double product(View x, View y) {
  double total = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) total += x[k] * y[k];
  return total;
}
[[nodiscard]] double distance(View x, View y) {
  double total = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) total += (x[k] - y[k]) * (x[k] - y[k]);
  return std::sqrt(total);
}
/// What is left of x outside `axis`, at length 1; any direction but that where nothing is.
[[nodiscard]] std::vector<double> beside(std::vector<double> x, View axis) {
  const auto leave = [&](std::vector<double>& of) {
    const double before = std::sqrt(product(of, of)), along = product(of, axis);
    for (std::size_t k = 0; k < of.size(); ++k) of[k] -= along * axis[k];
    const double length = std::sqrt(product(of, of));
    if (!(length > 1e-9 * before)) return false;
    for (double& c : of) c /= length;
    return true;
  };
  if (leave(x) && leave(x)) return x;  // (twice, for rounding)
  std::size_t least = 0;
  for (std::size_t k = 1; k < axis.size(); ++k) {
    if (std::abs(axis[k]) < std::abs(axis[least])) least = k;
  }
  std::ranges::fill(x, 0.0);
  x[least] = 1.0;
  static_cast<void>(leave(x));
  return x;
}
[[nodiscard]] std::vector<double> along(const std::vector<double>& x) {
  return beside(x, std::vector<double>(x.size(), 0.0));
}

/// The differences of a pair of pairs in d coordinates, and the way back.
template <std::size_t d>
struct Place {
  Direction<d> p{}, q{};
  std::array<Matrix, 2> axes;  ///< what each coordinate is among the samples: for u and v, and for b and a
};

/// Rows u, v, b, a. With fewer coordinates than the samples have: the plane of p and q, or only their lengths.
template <std::size_t d>
[[nodiscard]] Place<d> place_of(const Matrix& theta) {
  const std::vector<double> p = difference(theta.row(0), theta.row(1)), q = difference(theta.row(3), theta.row(2));
  const Index n = theta.cols();
  constexpr auto rows = static_cast<Index>(d);
  Place<d> out{{}, {}, {Matrix(rows, n), Matrix(rows, n)}};
  const auto set = [&](Index axis, const std::vector<double>& of_p, const std::vector<double>& of_q) {
    std::ranges::copy(of_p, out.axes[0].row(axis).begin());
    std::ranges::copy(of_q, out.axes[1].row(axis).begin());
    out.p[static_cast<std::size_t>(axis)] = product(p, of_p);
    out.q[static_cast<std::size_t>(axis)] = product(q, of_q);
  };
  if (n == rows) {
    for (Index k = 0; k < n; ++k) {
      std::vector<double> axis(p.size(), 0.0);
      axis[static_cast<std::size_t>(k)] = 1.0;
      set(k, axis, axis);
    }
  } else if (d == 1) {
    set(0, along(p), along(q));
  } else {
    const std::vector<double> first = along(p), second = beside(q, first);
    set(0, first, first);
    set(1, second, second);
  }
  return out;
}

/// In d coordinates, with `per` forms per arm.
template <std::size_t d, std::size_t per>
class SectorsOf final : public VarianceSectors {
 public:
  /// `spread`: the covariances of the arms' forms.
  SectorsOf(Matrix theta, std::size_t n_arms, const std::array<QuadraticForm<d>, 4>& spread, const VarianceAverage& average)
      : n_arms_(n_arms), theta_(std::move(theta)), place_(place_of<d>(theta_)), spread_(spread), search_(n_arms * per, average) {}

  [[nodiscard]] long long boxes() const override { return search_.boxes(); }

  [[nodiscard]] double infimum(double enough, double too_little, const Look& look) override {
    std::vector<Box> boxes;
    const Direction<d> f = unit(place_.q);
    for (const DirectionCell<d>& cell : DirectionCell<d>::all(unit(place_.p), signs())) boxes.push_back(whole({cell, f, {}}));
    return search_.infimum(
        std::move(boxes), enough, too_little, d == 1 ? most_boxes_on_line : most_boxes,
        [&](const Box& box) { return look_near(box, look); },
        [&](const Box& box, double least) { return halves(box, least, enough); },
        [this](Box& box, const Forms& x) { return turn(box, x); });
  }

 private:
  /// Directions of w, the f that goes with them, and the coefficients of the arms.
  struct Sector {
    DirectionCell<d> cell;
    Direction<d> f;
    std::array<Direction<d>, 4> coefficient;
  };
  using Search = ReachSearch<VarianceAverage, Sector, 4 * per>;
  using Box = Search::Box;
  using Forms = Search::Forms;

  /// The signs of the coordinates of w that need to be looked at.
  [[nodiscard]] Signs<d> signs() const {
    Signs<d> out{};
    if (per == 1) return out;
    for (std::size_t k = 0; k < d; ++k) {
      const double p = place_.p[k], q = place_.q[k];
      if (n_arms_ == 4 || p * q <= 0.0 || std::abs(p) >= std::abs(q)) out[k] = p < 0.0 ? -1 : 1;
    }
    return out;
  }

  /// The constraint of a sector.
  void enter(Box& box) const {
    Sector& own = box.extra;
    const double shrunk = std::cos(own.cell.half);
    const Direction<d> zero{}, e = own.cell.middle, f = sum(zero, shrunk, own.f);
    own.coefficient = {e, sum(zero, -1.0, e), f, sum(zero, -1.0, f)};
    if (n_arms_ == 3) own.coefficient[0] = sum(e, -1.0, f);
    for (std::size_t i = 0; i < n_arms_; ++i) {
      const Direction<d>& c = own.coefficient[i];
      for (std::size_t k = 0; k < per; ++k) {
        const double square = per == 1 ? dot(c, spread_[i].times(c)) : c[k] * c[k] * spread_[i](k, k);
        box.reach[i * per + k] = std::sqrt(std::max(square, 0.0));
      }
    }
    box.gap = dot(f, place_.q) - dot(e, place_.p);
  }

  /// What an arm's coefficient is multiplied by for the way that it goes if its forms are x^2.
  [[nodiscard]] QuadraticForm<d> response(const Box& box, const Forms& x, std::size_t arm) const {
    const auto step = [&](std::size_t form) { return box.reach[form] > 0.0 ? x[form] / box.reach[form] : 0.0; };
    QuadraticForm<d> out;
    if constexpr (per == 1) {
      out.add(step(arm), spread_[arm]);
    } else {
      for (std::size_t k = 0; k < per; ++k) out(k, k) = step(arm * per + k) * spread_[arm](k, k);
    }
    return out;
  }

  /// Bring f to where the bound is best for the chords at x; false if that gains little, or if there would be no gap. With the
  /// multiplier and the chords at x, s = at_zero - turn f, and the bound is concave in f, with a gradient along s: so the best f
  /// is where f' turn f / 2 - at_zero . f is least in the ball.
  [[nodiscard]] bool turn(Box& box, const Forms& x) const {
    if (d == 1) return false;
    const Direction<d> f = box.extra.f, e = box.extra.cell.middle;
    const double shrunk = std::cos(box.extra.cell.half), gap = box.gap;
    Direction<d> at_zero = place_.q;
    QuadraticForm<d> turn;
    for (const std::size_t i : {n_arms_ == 3 ? std::size_t{0} : std::size_t{3}, std::size_t{2}}) {
      const QuadraticForm<d> own = response(box, x, i);
      turn.add(shrunk, own);
      if (i == 0) at_zero = sum(at_zero, 1.0, own.times(e));
    }
    const Direction<d> s = sum(at_zero, -1.0, turn.times(f));
    const double lost = shrunk * (std::sqrt(dot(s, s)) - dot(f, s));
    if (2.0 * box.rise * lost <= 0.25 * Search::precision * gap) return false;
    box.extra.f = turn.least_in_ball(at_zero);
    enter(box);
    if (box.gap > std::min(gap, 0.0)) return true;
    box.extra.f = f;
    enter(box);
    return false;
  }

  /// A sector as one box.
  [[nodiscard]] Box whole(const Sector& sector) {
    Box box;
    box.extra = sector;
    enter(box);
    box.at = box.reach;
    return box;
  }

  /// The halves of a cell if it loses more than its box, or more than a little where it matters.
  [[nodiscard]] std::vector<Box> halves(const Box& box, double least, double enough) {
    const double half = box.extra.cell.half;
    if (half == 0.0) return {};
    const double most = box.gap > 0.0 ? 2.0 * box.rise * (1.0 - std::cos(half)) * dot(box.extra.f, place_.q) / box.gap : inf;
    const double loss = usual_share * most;
    if (loss <= std::max(box.value - box.bound, usual_share * Search::precision) && (loss <= fine || box.value - loss >= least)) {
      return {};
    }
    std::vector<Box> out;
    for (const DirectionCell<d>& cell : box.extra.cell.halves()) {
      Box part = box;
      part.extra.cell = cell;
      enter(part);
      search_.bound(part, enough, [this](Box& own, const Forms& x) { return turn(own, x); });
      out.push_back(part);
    }
    return out;
  }

  /// log E at a lambda near the box's lowest place, by `look`; infinite if there is none near.
  [[nodiscard]] double look_near(const Box& box, const Look& look) const {
    constexpr double first_more = 1e-5, most_more = 0.3;
    double reached = 0.0;
    for (std::size_t i = 0; i < n_arms_ * per; ++i) reached += box.reach[i] * box.at[i];
    if (!(reached > 0.0)) return inf;
    std::array<Direction<d>, 4> way;
    for (std::size_t i = 0; i < n_arms_; ++i) way[i] = response(box, box.at, i).times(box.extra.coefficient[i]);
    if (n_arms_ == 3) way[3] = way[0];
    Matrix lam = theta_;
    const double first = std::max(box.gap / reached, 0.0);
    for (double more = 0.0; more < most_more; more = std::max(2.0 * more, first_more)) {
      const double factor = first * (1.0 + more);
      for (std::size_t i = 0; i < 4; ++i) {
        const auto row = static_cast<Index>(i);
        for (Index k = 0; k < lam.cols(); ++k) {
          double moved = 0.0;
          for (std::size_t axis = 0; axis < d; ++axis) moved += way[i][axis] * place_.axes[i / 2](static_cast<Index>(axis), k);
          lam(row, k) = theta_(row, k) + factor * moved;
        }
      }
      if (distance(lam.row(0), lam.row(1)) >= distance(lam.row(3), lam.row(2)) * (1.0 - 1e-12)) return look(lam);
    }
    return inf;
  }

  std::size_t n_arms_;
  Matrix theta_;  ///< rows u, v, b, a
  Place<d> place_;
  std::array<QuadraticForm<d>, 4> spread_;
  Search search_;
};

}  // namespace

std::unique_ptr<VarianceSectors> make_variance_sectors(const Samples& samples, const Witness& w,
                                                       const std::array<const ArmShape*, 4>& shapes,
                                                       const VarianceAverage& average) {
  const std::size_t n_arms = w.shared() ? 3 : 4;
  const Index n = samples.means().cols();
  Matrix theta(4, n);
  const std::array<Index, 4> arms{w.u, w.v, w.b, w.a};
  for (std::size_t i = 0; i < 4; ++i) std::ranges::copy(samples.mean(arms[i]), theta.row(static_cast<Index>(i)).begin());
  const auto make = [&]<std::size_t d, std::size_t per>() -> std::unique_ptr<VarianceSectors> {
    std::array<QuadraticForm<d>, 4> spread{};
    for (std::size_t i = 0; i < n_arms; ++i) {
      const ArmShape& shape = *shapes[i];
      for (std::size_t j = 0; j < d; ++j) {
        for (std::size_t k = 0; k < d; ++k) {
          if (shape.covariance.rows() > 0) {
            spread[i](j, k) = shape.covariance(static_cast<Index>(j), static_cast<Index>(k));
          } else if (j == k) {
            spread[i](j, k) = shape.units[per == 1 ? 0 : k];
          }
        }
      }
    }
    return std::make_unique<SectorsOf<d, per>>(std::move(theta), n_arms, spread, average);
  };
  const Variances kind = samples.model().variances();
  if (n == 1 || (kind == Variances::separate && n_arms == 4)) return make.template operator()<1, 1>();
  if (kind == Variances::separate) return make.template operator()<2, 1>();
  const bool full = kind == Variances::full;
  if (n == 2) return full ? make.template operator()<2, 1>() : make.template operator()<2, 2>();
  if (n == 3) return full ? make.template operator()<3, 1>() : make.template operator()<3, 3>();
  if (n == 4) return full ? make.template operator()<4, 1>() : make.template operator()<4, 4>();
  if (n == 5) return full ? make.template operator()<5, 1>() : make.template operator()<5, 5>();
  return nullptr;
}

}  // namespace linkarms
