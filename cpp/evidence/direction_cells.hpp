// Cells that cover all directions of a space of few dimensions, and the place in the unit ball where a quadratic form is least.
//
// On a line there are two directions. In the plane a cell is an arc. In more dimensions it is a part of a face of the cube around
// the sphere, between two angles along each of its axes; its corners are the directions in it that are farthest from its
// middle. A cell is halved across its longest side.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <vector>

namespace linkarms {

template <std::size_t d>
using Direction = std::array<double, d>;

template <std::size_t d>
[[nodiscard]] double dot(const Direction<d>& x, const Direction<d>& y) {
  double total = 0.0;
  for (std::size_t k = 0; k < d; ++k) total += x[k] * y[k];
  return total;
}

/// x + factor y
template <std::size_t d>
[[nodiscard]] Direction<d> sum(const Direction<d>& x, double factor, const Direction<d>& y) {
  Direction<d> out;
  for (std::size_t k = 0; k < d; ++k) out[k] = x[k] + factor * y[k];
  return out;
}

/// x / |x|; the first coordinate's direction for 0.
template <std::size_t d>
[[nodiscard]] Direction<d> unit(const Direction<d>& x) {
  const double length = std::sqrt(dot(x, x));
  Direction<d> out{};
  if (length > 0.0) {
    for (std::size_t k = 0; k < d; ++k) out[k] = x[k] / length;
  } else {
    out[0] = 1.0;
  }
  return out;
}

/// The sign of each coordinate of a direction; 0: it may have both.
template <std::size_t d>
using Signs = std::array<int, d>;

/// The directions within `half` of `middle`, at least.
template <std::size_t d>
struct DirectionCell {
  Direction<d> middle{};
  double half = 0.0;
  std::size_t face = 0;  ///< the axis through its face of the cube, and on which side
  double side = 1.0;
  std::array<double, d - 1> low{}, high{};  ///< angles along the other axes

  /// Cells of all directions with these signs.
  [[nodiscard]] static std::vector<DirectionCell> all(const Direction<d>&, const Signs<d>& signs) {
    constexpr double corner = 0.25 * std::numbers::pi;
    std::vector<DirectionCell> out;
    for (std::size_t face = 0; face < d; ++face) {
      for (const int side : {1, -1}) {
        if (side == -signs[face]) continue;
        DirectionCell cell{.face = face, .side = static_cast<double>(side)};
        for (std::size_t k = 0, next = 0; k < d; ++k) {
          if (k == face) continue;
          cell.low[next] = signs[k] > 0 ? 0.0 : -corner;
          cell.high[next++] = signs[k] < 0 ? 0.0 : corner;
        }
        cell.settle();
        out.push_back(cell);
      }
    }
    return out;
  }

  [[nodiscard]] std::array<DirectionCell, 2> halves() const {
    std::size_t longest = 0;
    for (std::size_t k = 1; k + 1 < d; ++k) {
      if (high[k] - low[k] > high[longest] - low[longest]) longest = k;
    }
    std::array<DirectionCell, 2> out{*this, *this};
    out[0].high[longest] = out[1].low[longest] = 0.5 * (low[longest] + high[longest]);
    for (DirectionCell& part : out) part.settle();
    return out;
  }

 private:
  [[nodiscard]] Direction<d> at(const std::array<double, d - 1>& angle) const {
    Direction<d> out;
    for (std::size_t k = 0, next = 0; k < d; ++k) out[k] = k == face ? side : std::tan(angle[next++]);
    return unit(out);
  }
  /// Compute the middle, and how far the corners are from it.
  void settle() {
    std::array<double, d - 1> angle;
    for (std::size_t k = 0; k + 1 < d; ++k) angle[k] = 0.5 * (low[k] + high[k]);
    middle = at(angle);
    double least = 1.0;
    for (std::size_t corner = 0; corner < (std::size_t{1} << (d - 1)); ++corner) {
      for (std::size_t k = 0; k + 1 < d; ++k) angle[k] = (corner >> k & 1) != 0 ? high[k] : low[k];
      least = std::min(least, dot(middle, at(angle)));
    }
    half = std::acos(least) * (1.0 + 1e-12);
  }
};

template <>
struct DirectionCell<1> {
  Direction<1> middle{};
  double half = 0.0;

  [[nodiscard]] static std::vector<DirectionCell> all(const Direction<1>& first, const Signs<1>&) {
    return {{.middle = {-first[0]}}, {.middle = first}};
  }
  [[nodiscard]] std::array<DirectionCell, 2> halves() const { return {*this, *this}; }
};

template <>
struct DirectionCell<2> {
  Direction<2> middle{};
  double half = 0.0;

  /// Of a quadrant, half the plane, or all of it; then the middle of one is the direction given.
  [[nodiscard]] static std::vector<DirectionCell> all(const Direction<2>& first, const Signs<2>& signs) {
    constexpr double half = std::numbers::pi / 8;
    const int known = std::abs(signs[0]) + std::abs(signs[1]), count = 8 >> known;
    const Direction<2> middle = unit(Direction<2>{static_cast<double>(signs[0]), static_cast<double>(signs[1])});
    std::vector<DirectionCell> out;
    for (int i = 0; i < count; ++i) {
      out.push_back({known == 0 ? turned(first, 2.0 * half * i) : turned(middle, half * (2 * i + 1 - count)), half});
    }
    return out;
  }
  [[nodiscard]] std::array<DirectionCell, 2> halves() const {
    return {DirectionCell{turned(middle, 0.5 * half), 0.5 * half}, DirectionCell{turned(middle, -0.5 * half), 0.5 * half}};
  }

 private:
  [[nodiscard]] static Direction<2> turned(const Direction<2>& x, double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    return {c * x[0] - s * x[1], s * x[0] + c * x[1]};
  }
};

/// A symmetric matrix without negative eigenvalues, such as a covariance.
template <std::size_t d>
class QuadraticForm {
 public:
  [[nodiscard]] double& operator()(std::size_t i, std::size_t k) { return rows_[i][k]; }
  [[nodiscard]] double operator()(std::size_t i, std::size_t k) const { return rows_[i][k]; }

  [[nodiscard]] Direction<d> times(const Direction<d>& x) const {
    Direction<d> out;
    for (std::size_t i = 0; i < d; ++i) out[i] = dot(rows_[i], x);
    return out;
  }
  void add(double factor, const QuadraticForm& other) {
    for (std::size_t i = 0; i < d; ++i) rows_[i] = sum(rows_[i], factor, other.rows_[i]);
  }

  /// Where form(f, f) / 2 - pull . f is least in the unit ball, nearly.
  [[nodiscard]] Direction<d> least_in_ball(const Direction<d>& pull) const {
    constexpr int most_steps = 12;
    const double length = std::sqrt(dot(pull, pull));
    if (!(length > 0.0)) return {};
    double widest = 0.0;  // no eigenvalue is larger
    for (const Direction<d>& row : rows_) {
      double total = 0.0;
      for (const double x : row) total += std::abs(x);
      widest = std::max(widest, total);
    }
    // on the sphere f = (form + more)^-1 pull; from below Newton's method on 1 / |f| comes nearer from one side
    double more = length - widest;
    if (!(more > 0.0)) {
      more = 1e-9 * widest;
      if (const Direction<d> inside = solved(more, pull); dot(inside, inside) <= 1.0) return inside;
    }
    Direction<d> f = solved(more, pull);
    for (int turn = 0; turn < most_steps; ++turn) {
      const double size = std::sqrt(dot(f, f));
      if (std::abs(size - 1.0) < 1e-6) break;
      more += (size - 1.0) * size * size / dot(f, solved(more, f));
      f = solved(more, pull);
    }
    return unit(f);
  }

 private:
  /// (form + more)^-1 x, by elimination: with more > 0 no pivot is 0.
  [[nodiscard]] Direction<d> solved(double more, Direction<d> x) const {
    std::array<Direction<d>, d> left = rows_;
    for (std::size_t i = 0; i < d; ++i) left[i][i] += more;
    for (std::size_t i = 0; i < d; ++i) {
      for (std::size_t j = i + 1; j < d; ++j) {
        const double factor = left[j][i] / left[i][i];
        left[j] = sum(left[j], -factor, left[i]);
        x[j] -= factor * x[i];
      }
    }
    for (std::size_t i = d; i-- > 0;) {
      for (std::size_t k = i + 1; k < d; ++k) x[i] -= left[i][k] * x[k];
      x[i] /= left[i][i];
    }
    return x;
  }

  std::array<Direction<d>, d> rows_{};
};

}  // namespace linkarms
