// How far the bound for a shared arm falls within a box of directions, for fixed multipliers and a fixed blend.
//
// Let h = 1/(1/A_u + 1/A_b), F(gamma) = (mu + nu) s - eta c the force on u, y(F) the minimiser of psi_u(y) - F y, and
//   G(gamma) = y(F) c - (eta s - delta c) s/A_u - eta/A_b.
// eta may depend on the directions: as k_u'' >= -1/A_u, eta + D in its place with D = h (G + q t sin(beta)) gives at least
//   k_u(F) - (eta s - delta c)^2/(2 A_u) + h (G + q t sin(beta))^2/2 + eta q t sin(beta)
//     + nu q cos(beta) + h q^2 sin(beta)^2 (1 - t^2)/2 - mu p cos(alpha) + constant                                          (1)
// From a base in the box, G_0 being G there:
// - On each side of the base's gamma k_u is above its chord, a multiple of F, which is exact at both ends.
// - F and the second term are waves (a sine and a cosine added up). A wave is above its tangent less half the square of the way
//   times its largest value there, times the frequency squared: its second derivative is minus itself.
// - x^2 >= 2 x x_0 - x_0^2 for x = G + q t sin(beta) and x_0 = G_0 + q t sin(beta): the third term is at least
//   h x_0^2/2 + h x_0 (G - G_0), and in that G is nearly linear. y(F) is concave: it is replaced by its tangent, and what that
//   is wrong by at the ends (`bow`), times the largest |D| c, is subtracted.
// - -cos(alpha) = -cos(chi - angle(p, q)) is convex in X = cos(chi), which is a wave in gamma: above any tangent in X.
// So on each side (1) is above a function that is concave in gamma for fixed beta and t: the ends decide. There it is linear in t
// (t^2 cancels): the ends decide again. In beta it is a wave and h q^2 sin(beta)^2/2: above a parabola.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "evidence/aligned_directions.hpp"
#include "math/constants.hpp"

namespace linkarms {

namespace {

using std::numbers::pi;

/// x cos(angle) + y sin(angle).
struct Wave {
  double x, y;

  [[nodiscard]] double at(double angle) const { return x * std::cos(angle) + y * std::sin(angle); }
  [[nodiscard]] double slope(double angle) const { return y * std::cos(angle) - x * std::sin(angle); }
  /// The largest value from `low` to `high`.
  [[nodiscard]] double top(double low, double high) const {
    if (high - low >= pi || (slope(low) > 0.0 && slope(high) < 0.0)) return std::hypot(x, y);
    return std::max(at(low), at(high));
  }
  [[nodiscard]] double bottom(double low, double high) const { return -Wave{-x, -y}.top(low, high); }
};

/// The smallest value of slope x + curve x^2/2 from `low` <= 0 to `high` >= 0.
double least(double slope, double curve, double low, double high) {
  double out = std::min(low * (slope + 0.5 * curve * low), high * (slope + 0.5 * curve * high));
  if (curve > 0.0 && -slope > curve * low && -slope < curve * high) out = -0.5 * slope * slope / curve;
  return out;
}

/// k_u(F) >= k_u(F_0) + slope (F - F_0) - loss on one side of the base, and the largest error of y's tangent
/// there.
struct Chord {
  double slope, loss, bow;
};

Chord chord(const Profile& u, const Profile::Conjugate& base, double force, double low, double high) {
  Chord out{-base.y, 0.0, 0.0};
  const bool both = low < force && high > force;
  for (const double x : {low, high}) {
    if (x == force) continue;
    const double guess = base.y + base.spread * (x - force);
    const Profile::Conjugate there = u.conjugate(x, guess);
    out.bow = std::max(out.bow, std::abs(there.y - guess));
    if (both) {
      out.loss = std::max(out.loss, base.value - base.y * (x - force) - there.value);
    } else {
      out.slope = (there.value - base.value) / (x - force);
    }
  }
  return out;
}

}  // namespace

Vector3 SharedDirections::first(const AlignedDual& dual) const {
  // out of the plane only if that gains something: the second derivative in beta at beta = 0, t = 0
  const double a = dual.blend()[role_u].across(), b = dual.blend()[role_b].across();
  const bool stay = piece_->dimension() == 2 || pairs_.q * a * b / (a + b) >= dual.multipliers().nu();
  return {0.0, stay ? 0.0 : 0.2, pairs_.angle};
}

Vector3 SharedDirections::gradient(const AlignedDual& dual, const Vector3& x) const {
  const auto [mu, delta, eta] = dual.multipliers();
  const Directions at = directions(x);
  const auto [beta, gamma, t] = at;
  const double q = pairs_.q, au = dual.blend()[role_u].across(), ab = dual.blend()[role_b].across();
  const double h = au * ab / (au + ab), y = dual.along()[role_u];
  const double cos_g = std::cos(gamma), sin_g = std::sin(gamma), cos_b = std::cos(beta), sin_b = std::sin(beta);
  const double chi = std::acos(cosine_of_chi(at));
  const double intra = mu * pairs_.p * std::sin(chi - pairs_.angle) / std::max(std::sin(chi), 1e-9);
  const double along = (mu - delta) * q - intra * cos_g, across = (eta - h * q * t * sin_b) * q - intra * sin_g;
  const Wave pull{y * eta, -y * (2.0 * mu - delta)};
  const Wave cross{(eta * eta - delta * delta) / (4.0 * au), eta * delta / (2.0 * au)};
  const double of_beta = -along * sin_b + t * across * cos_b + h * q * q * sin_b * cos_b;
  const double of_gamma = 0.5 * pull.slope(0.5 * gamma) + cross.slope(gamma) + intra * (cos_b * sin_g - t * sin_b * cos_g);
  const double turn = beta > 0.0 ? across * sin_b / beta : across, off = std::sqrt(std::max(0.0, 1.0 - t * t));
  return {of_beta * t + turn * off * off, off * (of_beta - turn * t), of_gamma};
}

BoxBound SharedDirections::bound(const AlignedDual& dual, double value, const Directions& at, const DirectionBox& box) const {
  if (box.low == box.high) return {value, 0};
  const auto [mu, delta, eta] = dual.multipliers();
  const auto [beta, gamma, t] = at;
  const auto& low = box.low;
  const auto& high = box.high;
  const double p = pairs_.p, q = pairs_.q, nu = mu - delta, sum = mu + nu;
  const Profile& u = dual.blend()[role_u];
  const double au = u.across(), ab = dual.blend()[role_b].across(), h = au * ab / (au + ab), hq = h * q * q;
  const double s = std::sin(0.5 * gamma), c = std::cos(0.5 * gamma), force = sum * s - eta * c;
  const double cos_g = std::cos(gamma), sin_g = std::sin(gamma), cos_b = std::cos(beta), sin_b = std::sin(beta);
  const Profile::Conjugate here = u.conjugate(force, dual.along()[role_u]);

  // G with y's tangent, as a constant and two waves
  const Wave tilt_half{here.y - here.spread * force, 0.0};
  const Wave tilt_full{0.5 * eta * (1.0 / au - here.spread), 0.5 * (here.spread * sum + delta / au)};
  const double tilt = here.y * c - (eta * s - delta * c) * s / au - eta / ab;
  const double tilt_slope = 0.5 * tilt_half.slope(0.5 * gamma) + tilt_full.slope(gamma);
  const double tilt_curve = 0.25 * std::abs(tilt_half.x) + std::hypot(tilt_full.x, tilt_full.y);

  // the tangent of -cos(alpha) in X, not too near to where its slope is infinite
  const Wave sine{0.0, 1.0};
  const double top_b = sine.top(low[0], high[0]), top_g = sine.top(low[1], high[1]);
  const std::array widths{high[0] - low[0], high[1] - low[1], (high[2] - low[2]) * top_b * top_g};
  const double wide = std::min(pi, widths[0] + widths[1] + widths[2]);
  const double cos_chi = cosine_of_chi(at), chi = std::acos(cos_chi), from = std::clamp(chi, 0.5 * wide, pi - 0.5 * wide);
  const double turn = std::sin(from) > 1e-12 ? std::sin(from - pairs_.angle) / std::sin(from) : 0.0;  // d cos(alpha) / dX
  const double intra = mu * p * turn;
  const double lost = mu * p * (std::cos(from - pairs_.angle) + turn * (cos_chi - std::cos(from)) - std::cos(chi - pairs_.angle));
  // X's second derivative in gamma is -X: the wrong sign where intra X < 0
  const double bad = std::min(1.0, std::max(0.0, intra > 0.0 ? wide - cos_chi : wide + cos_chi)) * std::abs(intra);

  const double side = q * t * sin_b;
  double off = 0.0;  // the largest |G + q t sin(beta)| at the base's gamma
  for (const double x : {low[2], high[2]}) {
    off = std::max({off, std::abs(tilt + q * x * top_b), std::abs(tilt + q * x * sine.bottom(low[0], high[0]))});
  }
  const double base = value - lost + 0.5 * h * (tilt + side) * (tilt + side);
  const Wave cross{(eta * eta - delta * delta) / (4.0 * au), eta * delta / (2.0 * au)};
  const double even = Wave{1.0, 0.0}.bottom(2.0 * low[0], 2.0 * high[0]);
  const double along_base = nu * q - intra * cos_g, across_base = (eta + h * tilt) * q - intra * sin_g;

  BoxBound worst{inf, 0};
  const auto widest = static_cast<std::size_t>(std::ranges::max_element(widths) - widths.begin());
  const auto consider = [&](double step, double flat, double loss) {
    const double along = nu * q - intra * (cos_g - step * sin_g);
    const double across = (eta + h * (tilt + step * tilt_slope)) * q - intra * (sin_g + step * cos_g);
    for (const double x : {low[2], high[2]}) {
      const double middle = base + step * flat + cos_b * (along - along_base) + sin_b * (x * across - t * across_base);
      const Wave wave{along, x * across};
      const double curve = hq * even - wave.top(low[0], high[0]);
      const double fall = least(wave.slope(beta) + hq * sin_b * cos_b, curve, low[0] - beta, high[0] - beta);
      const double found = middle + fall - loss;
      if (!(found < worst.value)) continue;
      const double turned = base + sin_b * (x - t) * across_base;
      std::array cost{-fall, loss + turned - middle, base - turned};
      cost[widest] += lost;
      worst = {found, static_cast<std::size_t>(std::ranges::max_element(cost) - cost.begin())};
    }
  };
  double constant = 0.0;
  for (const double end : {low[1], high[1]}) {
    const double step = end - gamma, first = std::min(gamma, end), last = std::max(gamma, end);
    if (step == 0.0) continue;
    const Wave push{-eta, sum};
    const Chord k = chord(u, here, force, push.bottom(0.5 * first, 0.5 * last), push.top(0.5 * first, 0.5 * last));
    const Wave pull{-k.slope * eta, k.slope * sum};
    const double flat = 0.5 * pull.slope(0.5 * gamma) + cross.slope(gamma) + h * tilt * tilt_slope;
    const double curve = 0.25 * std::max(0.0, pull.top(0.5 * first, 0.5 * last)) + std::max(0.0, cross.top(first, last)) + bad +
                         h * off * tilt_curve;
    const double reach = off + std::abs(step * tilt_slope) + 0.5 * tilt_curve * step * step;
    const double fixed = k.loss + h * reach * std::cos(0.5 * first) * k.bow;
    constant = std::max(constant, fixed);
    consider(step, flat, fixed + 0.5 * curve * step * step);
  }
  consider(0.0, 0.0, constant);
  return worst;
}

}  // namespace linkarms
