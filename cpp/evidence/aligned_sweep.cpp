#include "evidence/aligned_sweep.hpp"

#include <algorithm>
#include <cmath>

#include "math/constants.hpp"

namespace linkarms {

namespace {

/// The least of  a t sin(beta) - mu p cos(alpha)  over t, and where it is.
struct WorstTurn {
  double value, t;
};

class IntraPull {
 public:
  /// For t from `low` to `high`.
  IntraPull(double mu_p, double angle, double low, double high)
      : along_(mu_p * std::cos(angle)), across_(mu_p * std::sin(angle)), low_(low), high_(high) {}

  [[nodiscard]] WorstTurn worst(double a, double cos_b, double sin_b, double cos_g, double sin_g) const {
    const double even = cos_b * cos_g, odd = sin_b * sin_g;
    const auto at = [&](double t) {
      const double x = std::clamp(even + t * odd, -1.0, 1.0);
      return WorstTurn{a * t * sin_b - along_ * x - across_ * std::sqrt(1.0 - x * x), t};
    };
    if (odd < 1e-12) return at(a > 0.0 ? low_ : high_);
    // a wave in chi: (a/sin(gamma) - along) cos(chi) - across sin(chi)
    const double x = a / sin_g - along_, size = std::sqrt(x * x + across_ * across_);
    return at(size > 0.0 ? std::clamp((-x / size - even) / odd, low_, high_) : high_);
  }

 private:
  double along_, across_, low_, high_;
};

}  // namespace

DirectionSweep::DirectionSweep(const PairDifferences& pairs, const Directions& low, const Directions& high)
    : p_(pairs.p), q_(pairs.q), angle_(pairs.angle), low_(low), high_(high) {
  for (auto& row : cells_) row.fill({-inf, 1.0});
}

void DirectionSweep::raise(const AlignedDual& dual, double level) {
  // the edges around what is below the level
  std::size_t row_0 = n_gamma, row_1 = 0, column_0 = n_beta, column_1 = 0;
  for (std::size_t i = 0; i < n_gamma; ++i) {
    for (std::size_t j = 0; j < n_beta; ++j) {
      if (cells_[i][j].bound >= level) continue;
      row_0 = std::min(row_0, i);
      row_1 = i + 1;
      column_0 = std::min(column_0, j);
      column_1 = std::max(column_1, j + 1);
    }
  }
  if (row_1 == 0) return;

  const Blend& blend = dual.blend();
  const auto [mu, delta, eta] = dual.multipliers();
  const double nu = mu - delta, sum = mu + nu;
  const Profile& u = blend[role_u];
  const double au = u.across(), ab = blend[role_b].across(), h = au * ab / (au + ab);
  const double fixed = blend.constant() + blend[role_v].conjugate(mu, dual.along()[role_v]).value +
                       blend[role_b].conjugate(nu, dual.along()[role_b]).value - 0.5 * eta * eta / ab;

  // what depends on gamma alone
  struct Row {
    double cosine, sine, value, tilt;  // of gamma; tilt: G
  };
  std::array<Row, n_gamma + 1> rows;
  double force = dual.force(), least_tilt = inf, most_tilt = -inf;
  Profile::Conjugate k{0.0, dual.along()[role_u], dual.spread(), 0.0};
  for (std::size_t i = row_0; i <= row_1; ++i) {
    const double half = 0.5 * edge_of_gamma(i), s = std::sin(half), c = std::cos(half), next = sum * s - eta * c;
    k = u.conjugate(next, k.y + k.spread * (next - force));
    force = next;
    const double cross = eta * s - delta * c, tilt = k.lean * c - cross * s / au - eta / ab;
    rows[i] = {c * c - s * s, 2.0 * s * c, fixed + k.value - 0.5 * cross * cross / au + 0.5 * h * tilt * tilt, tilt};
    least_tilt = std::min(least_tilt, tilt);
    most_tilt = std::max(most_tilt, tilt);
  }

  // and on beta alone
  std::array<double, n_beta + 1> cosines, sines;
  for (std::size_t j = column_0; j <= column_1; ++j) {
    cosines[j] = std::cos(edge_of_beta(j));
    sines[j] = std::max(0.0, std::sin(edge_of_beta(j)));
  }
  const double narrowest = std::min(sines[column_0], sines[column_1]);
  const double widest = cosines[column_0] > 0.0 && cosines[column_1] < 0.0 ? 1.0 : std::max(sines[column_0], sines[column_1]);

  // the second derivative in gamma, by the ends of eta' and of the force
  const double first = eta + h * (least_tilt + q_ * low_[2] * (low_[2] < 0.0 ? widest : narrowest));
  const double last = eta + h * (most_tilt + q_ * high_[2] * (high_[2] > 0.0 ? widest : narrowest));
  const double half_0 = 0.5 * edge_of_gamma(row_0), half_1 = 0.5 * edge_of_gamma(row_1), c_most = std::cos(half_0);
  const std::array push{sum * std::sin(half_0), sum * std::sin(half_1)};
  double pull = 0.0;
  for (const double end :
       {std::ranges::min(push) - std::max(0.0, last) * c_most, std::ranges::max(push) + std::max(0.0, -first) * c_most}) {
    const double y = u.conjugate(end, k.y + k.spread * (end - force)).y;
    pull = std::max(pull, 0.25 * (end * y + std::abs(end) * std::sqrt(2.0 * Profile::tolerance / au)));
  }
  const double width_b = (high_[0] - low_[0]) / n_beta, width_g = (high_[1] - low_[1]) / n_gamma;
  const double loss_g =
      0.125 * width_g * width_g * (pull + 0.25 * (std::max(first * first, last * last) + delta * delta) / au + mu * p_);

  const IntraPull intra(mu * p_, angle_, low_[2], high_[2]);
  const double most_t = std::max(std::abs(low_[2]), std::abs(high_[2]));
  double a_before = 0.0;
  std::array<WorstTurn, n_beta + 1> before, here;
  for (std::size_t i = row_0; i <= row_1; ++i) {
    const Row& row = rows[i];
    const double a = (h * row.tilt + eta) * q_;
    for (std::size_t j = column_0; j <= column_1; ++j) {
      here[j] = intra.worst(a, cosines[j], sines[j], row.cosine, row.sine);
      here[j].value += row.value + nu * q_ * cosines[j] + 0.5 * h * q_ * q_ * sines[j] * sines[j];
    }
    for (std::size_t j = column_0; i > row_0 && j < column_1; ++j) {
      Cell& cell = cells_[i - 1][j];
      if (cell.bound >= level) continue;
      const double step = row.tilt - rows[i - 1].tilt, sine = std::min(sines[j], sines[j + 1]);
      const double curve = h * q_ * q_ * (1.0 - 2.0 * sine * sine) - std::min(nu * q_ * cosines[j], nu * q_ * cosines[j + 1]) +
                           std::max(std::abs(a), std::abs(a_before)) * most_t * widest + mu * p_;
      const double loss = loss_g + 0.125 * h * step * step + 0.125 * width_b * width_b * std::max(0.0, curve);
      WorstTurn lowest = here[j];
      for (const WorstTurn& corner : {here[j + 1], before[j], before[j + 1]}) {
        if (corner.value < lowest.value) lowest = corner;
      }
      if (lowest.value - loss > cell.bound) cell = {lowest.value - loss, lowest.t};
    }
    before = here;
    a_before = a;
  }
}

DirectionSweep::Rest DirectionSweep::rest(double level) const {
  Rest out{.low = {inf, inf, low_[2]}, .high = {-inf, -inf, high_[2]}, .cleared = inf};
  double lowest = inf;
  for (std::size_t i = 0; i < n_gamma; ++i) {
    for (std::size_t j = 0; j < n_beta; ++j) {
      const Cell& cell = cells_[i][j];
      if (cell.bound >= level) {
        out.cleared = std::min(out.cleared, cell.bound);
        continue;
      }
      ++out.cells;
      const std::array low{edge_of_beta(j), edge_of_gamma(i)}, high{edge_of_beta(j + 1), edge_of_gamma(i + 1)};
      for (std::size_t k = 0; k < 2; ++k) {
        out.low[k] = std::min(out.low[k], low[k]);
        out.high[k] = std::max(out.high[k], high[k]);
      }
      if (!(cell.bound < lowest)) continue;
      lowest = cell.bound;
      out.worst = {0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), cell.t};
    }
  }
  return out;
}

}  // namespace linkarms
