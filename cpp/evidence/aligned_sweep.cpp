#include "evidence/aligned_sweep.hpp"

#include <algorithm>
#include <cmath>

#include "math/constants.hpp"

namespace linkarms {

namespace {

/// Slices of t; in the plane it is -1 or 1.
constexpr int n_t = 8;

/// How near f can be to p: the largest cos(chi - angle) where chi may be off by `reach`.
class Towards {
 public:
  Towards(double angle, double reach)
      : cos_angle_(std::cos(angle)), sin_angle_(std::sin(angle)), cos_reach_(std::cos(reach)), sin_reach_(std::sin(reach)) {}

  struct Place {
    double cosine;
    bool beyond;  ///< whether chi is above the angle
  };
  [[nodiscard]] Place at(double cos_chi) const {
    const double x = std::clamp(cos_chi, -1.0, 1.0), y = std::sqrt(1.0 - x * x);
    const double cosine = x * cos_angle_ + y * sin_angle_, sine = y * cos_angle_ - x * sin_angle_;
    return {cosine >= cos_reach_ ? 1.0 : cosine * cos_reach_ + std::abs(sine) * sin_reach_, sine > 0.0};
  }

 private:
  double cos_angle_, sin_angle_, cos_reach_, sin_reach_;
};

}  // namespace

DirectionSweep::DirectionSweep(const PairDifferences& pairs, const Directions& low, const Directions& high)
    : p_(pairs.p), q_(pairs.q), angle_(pairs.angle), planar_(pairs.intra.size() == 2), low_(low), high_(high) {
  for (auto& row : bound_) row.fill(-inf);
  for (auto& row : slice_) row.fill(0);
}

void DirectionSweep::raise(const AlignedDual& dual, double level) {
  const Blend& blend = dual.blend();
  const double mu = dual.multipliers().nu();
  if (!(mu >= 0.0)) return;
  const double au = blend[role_u].across(), ab = blend[role_b].across(), h = au * ab / (au + ab);
  const double fixed = blend.constant() + blend[role_v].conjugate(mu, dual.along()[role_v]).value +
                       blend[role_b].conjugate(mu, dual.along()[role_b]).value;
  const double width = (high_[0] - low_[0]) / n_beta;
  // of each edge of beta: itself, mu q cos(beta), q sin(beta); and of the middles
  std::array<double, n_beta + 1> edge, along, across;
  std::array<double, n_beta> cosines, sines;
  for (std::size_t j = 0; j <= n_beta; ++j) {
    edge[j] = edge_of_beta(j);
    along[j] = mu * q_ * std::cos(edge[j]);
    across[j] = q_ * std::max(0.0, std::sin(edge[j]));
    if (j == n_beta) break;
    cosines[j] = std::cos(edge[j] + 0.5 * width);
    sines[j] = std::sin(edge[j] + 0.5 * width);
  }
  const Towards towards(angle_, 0.5 * (width + (high_[1] - low_[1]) / n_gamma));
  double force = 2.0 * mu * std::sin(0.5 * low_[1]), cosine = std::cos(0.5 * low_[1]);
  Profile::Conjugate k = blend[role_u].conjugate(force, low_[1] > 0.0 ? dual.along()[role_u] : 0.0);
  for (std::size_t i = 0; i < n_gamma; ++i) {
    const double low = edge_of_gamma(i), high = edge_of_gamma(i + 1);
    const double next_force = 2.0 * mu * std::sin(0.5 * high), next_cosine = std::max(0.0, std::cos(0.5 * high));
    const Profile::Conjugate next = blend[role_u].conjugate(next_force, k.y + k.spread * (next_force - force));
    const double ends = fixed + std::min(k.value, next.value);
    const double most = std::max(std::abs(k.y), std::abs(next.y)) * cosine;
    const double least = k.y * next.y > 0.0 ? std::min(std::abs(k.y), std::abs(next.y)) * next_cosine : 0.0;
    const double away = std::max({0.0, low - angle_, angle_ - high});
    const double middle_cosine = std::cos(0.5 * (low + high)), middle_sine = std::sin(0.5 * (low + high));
    std::array<double, n_beta + 1> turned;
    for (std::size_t j = 0; j <= n_beta; ++j) {
      const double apart = std::max({0.0, least - across[j], across[j] - most});
      turned[j] = along[j] + 0.5 * h * apart * apart;
    }
    for (std::size_t j = 0; j < n_beta; ++j) {
      double& bound = bound_[i][j];
      if (bound >= level) continue;
      const double square = q_ * q_ - std::min(across[j] * across[j], across[j + 1] * across[j + 1]);
      const double curve = std::max(0.0, h * (square + 0.25 * most * most) - std::min(along[j], along[j + 1]));
      const double alpha = std::max(0.0, away - edge[j + 1]);
      const double rest = ends - 0.125 * curve * width * width;
      bound = std::max(bound, rest + std::min(turned[j], turned[j + 1]) - mu * p_ * std::cos(alpha));
      if (bound >= level || !(k.y > 0.0 && next.y > 0.0)) continue;
      // t by slices: that which was too low before, then halves, then all
      const double even = cosines[j] * middle_cosine, odd = sines[j] * middle_sine;
      const auto at_slice = [&](int slice, int n) {
        const double from = planar_ ? 2.0 * slice - 1.0 : -1.0 + 2.0 * slice / n, to = planar_ ? from : from + 2.0 / n;
        const Towards::Place first = towards.at(even + from * odd), last = towards.at(even + to * odd);
        const double intra = first.beyond != last.beyond ? 1.0 : std::max(first.cosine, last.cosine);
        double least_turned = inf;
        for (const std::size_t end : {j, j + 1}) {
          const double b = across[end], apart = std::max({0.0, least + from * b, from < 0.0 ? -from * b - most : 0.0});
          least_turned = std::min(least_turned, along[end] + 0.5 * h * (apart * apart + b * b * (1.0 - from * from)));
        }
        return rest + least_turned - mu * p_ * intra;
      };
      int& slice = slice_[i][j];
      if (at_slice(slice, n_t) < level) continue;
      double worst = std::min(at_slice(0, 2), at_slice(1, 2));
      if (worst < level && !planar_) {
        worst = inf;
        for (int other = 0; other < n_t && worst >= level; ++other) {
          worst = std::min(worst, at_slice(other, n_t));
          if (worst < level) slice = other;
        }
      } else if (worst < level) {
        slice = 1 - slice;
      }
      bound = std::max(bound, worst);
    }
    force = next_force;
    cosine = next_cosine;
    k = next;
  }
}

DirectionSweep::Rest DirectionSweep::rest(double level) const {
  Rest out{.low = {inf, inf, 0.0}, .high = {-inf, -inf, 0.0}, .cleared = inf};
  double lowest = inf;
  for (std::size_t i = 0; i < n_gamma; ++i) {
    for (std::size_t j = 0; j < n_beta; ++j) {
      if (bound_[i][j] >= level) {
        out.cleared = std::min(out.cleared, bound_[i][j]);
        continue;
      }
      ++out.cells;
      const std::array low{edge_of_beta(j), edge_of_gamma(i)}, high{edge_of_beta(j + 1), edge_of_gamma(i + 1)};
      for (std::size_t k = 0; k < 2; ++k) {
        out.low[k] = std::min(out.low[k], low[k]);
        out.high[k] = std::max(out.high[k], high[k]);
      }
      if (!(bound_[i][j] < lowest)) continue;
      lowest = bound_[i][j];
      const double t = planar_ ? 2.0 * slice_[i][j] - 1.0 : -1.0 + (2.0 * slice_[i][j] + 1.0) / n_t;
      out.worst = {0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), t};
    }
  }
  return out;
}

}  // namespace linkarms
