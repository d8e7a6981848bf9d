#include "run/matrix_game.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace linkarms {
namespace {

/// Reduced costs above this, for rows scaled to at most one, are taken for zero.
constexpr double zero = 1e-12;

/// A tableau of the simplex method: `basis` are the variables of its rows, `outside` those of its columns.
/// The last row holds reduced costs, the last column right-hand sides. Variables below `n_rows` are
/// multipliers, n_rows + m is the slack of arm m.
struct Tableau {
  Matrix table;
  std::vector<Index> basis, outside;

  [[nodiscard]] Index n_arms() const { return static_cast<Index>(basis.size()); }
  [[nodiscard]] Index n_rows() const { return static_cast<Index>(outside.size()); }

  /// The column to enter, or -1: of least reduced cost, multipliers of an earlier game first; by Bland's rule
  /// where `careful`.
  [[nodiscard]] Index entering(View mixture, bool careful) const {
    Index best = -1;
    double least = -zero;
    bool known = false;
    for (Index j = 0; j < n_rows(); ++j) {
      const double cost = table(n_arms(), j);
      if (cost >= -zero) continue;
      if (careful) {
        if (best < 0 || outside[j] < outside[best]) best = j;
        continue;
      }
      const bool old = outside[j] < n_rows() && mixture[outside[j]] > 0.0;
      if ((old && !known) || (old == known && cost < least)) {
        best = j;
        least = cost;
        known = old;
      }
    }
    return best;
  }

  /// The row to leave: the first whose right-hand side runs out; -1 where rounding leaves none.
  [[nodiscard]] Index leaving(Index enter) const {
    Index leave = -1;
    for (Index m = 0; m < n_arms(); ++m) {
      if (table(m, enter) > zero &&
          (leave < 0 || table(m, n_rows()) * table(leave, enter) < table(leave, n_rows()) * table(m, enter))) {
        leave = m;
      }
    }
    return leave;
  }

  void exchange(Index leave, Index enter) {
    const double pivot = 1.0 / table(leave, enter);
    for (double& x : table.row(leave)) x *= pivot;
    table(leave, enter) = pivot;
    const View base = std::as_const(table).row(leave);
    for (Index m = 0; m < table.rows(); ++m) {
      const double factor = table(m, enter);
      if (m == leave || factor == 0.0) continue;
      table(m, enter) = 0.0;
      const MutView row = table.row(m);
      for (std::size_t j = 0; j < row.size(); ++j) row[j] -= factor * base[j];
    }
    std::swap(basis[leave], outside[enter]);
  }
};

void divide(MutView x, double total) {
  for (double& v : x) v /= total;
}

}  // namespace

// For rows with a positive value v, x = w / v minimises sum x under rows x >= 1, and the multipliers maximise
// sum y under rows' y <= 1, y >= 0. The latter is solved by the simplex method, which can start from y = 0;
// the reduced costs of its slacks are x. The right-hand sides are spread by a millionth against cycling.
double solve_game(std::span<const View> rows, MutView weights, MutView mixture) {
  const auto n_rows = static_cast<Index>(rows.size()), n = static_cast<Index>(weights.size());
  double scale = 0.0;
  for (Index j = 0; j < n_rows; ++j) {
    const double largest = std::max(0.0, *std::ranges::max_element(rows[j]));
    if (largest <= 0.0) {  // this function is zero everywhere
      std::ranges::fill(weights, 1.0 / n);
      std::ranges::fill(mixture, 0.0);
      mixture[j] = 1.0;
      return 0.0;
    }
    scale = std::max(scale, largest);
  }
  Tableau t{Matrix(n + 1, n_rows + 1), std::vector<Index>(n), std::vector<Index>(n_rows)};
  for (Index m = 0; m < n; ++m) {
    for (Index j = 0; j < n_rows; ++j) t.table(m, j) = rows[j][m] / scale;
    t.table(m, n_rows) = 1.0 + 1e-6 * (m + 1) / n;
  }
  for (Index j = 0; j < n_rows; ++j) t.table(n, j) = -1.0;
  std::iota(t.basis.begin(), t.basis.end(), n_rows);
  std::iota(t.outside.begin(), t.outside.end(), 0);
  for (Index turn = 0; turn < 50 * (n_rows + n); ++turn) {
    const Index enter = t.entering(mixture, turn > 10 * (n_rows + n));
    if (enter < 0) break;
    const Index leave = t.leaving(enter);
    if (leave < 0) break;
    t.exchange(leave, enter);
  }
  std::ranges::fill(mixture, 0.0);
  std::ranges::fill(weights, 0.0);
  double total = 0.0, share = 0.0;
  for (Index m = 0; m < n; ++m) {
    if (t.basis[m] >= n_rows) continue;
    mixture[t.basis[m]] = std::max(t.table(m, n_rows), 0.0);
    total += mixture[t.basis[m]];
  }
  for (Index j = 0; j < n_rows; ++j) {
    if (t.outside[j] < n_rows) continue;
    weights[t.outside[j] - n_rows] = std::max(t.table(n, j), 0.0);
    share += weights[t.outside[j] - n_rows];
  }
  divide(weights, share);
  divide(mixture.first(rows.size()), total);
  double bound = 0.0;
  for (Index m = 0; m < n; ++m) {
    double value = 0.0;
    for (Index j = 0; j < n_rows; ++j) value += mixture[j] * rows[j][m];
    bound = std::max(bound, value);
  }
  return bound;
}

}  // namespace linkarms
