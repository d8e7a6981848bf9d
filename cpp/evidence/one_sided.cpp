#include "evidence/one_sided.hpp"

#include <algorithm>
#include <cmath>

#include "evidence/solved.hpp"
#include "math/constants.hpp"
#include "math/shares.hpp"
#include "pair/scalar.hpp"

namespace linkarms {
namespace {

/// Points and proofs that are kept.
constexpr std::size_t most_points = 64, most_proofs = 4096;

[[nodiscard]] std::array<long long, 4> counts_of(const Samples& samples, const Witness& w) {
  return {samples.count(w.u), samples.count(w.v), samples.count(w.b), samples.count(w.a)};
}

}  // namespace

OneSidedEvidence::OneSidedEvidence(const Model& model, const std::vector<double>& grid, double discount)
    : model_(&model), grid_(grid), prior_(grid, discount) {
  for (Index m = 0; m < model.n_arms(); ++m) arms_.emplace_back(model.scalar(m));
  forget();
}

void OneSidedEvidence::forget() {
  counts_.assign(arms_.size(), 0);
  points_.clear();
  proofs_.clear();
  next_ = 0;
}

const ShiftedArm& OneSidedEvidence::arm(const Samples& samples, Index m) {
  const auto i = static_cast<std::size_t>(m);
  if (counts_[i] != samples.count(m)) {
    arms_[i].set(static_cast<double>(samples.count(m)), samples.mean(m)[0]);
    counts_[i] = samples.count(m);
  }
  return arms_[i];
}

std::array<OneSidedEvidence::Sector, 3> OneSidedEvidence::sectors(const Witness& w, double intra, double inter) {
  const double s = intra >= 0.0 ? 1.0 : -1.0, e = inter >= 0.0 ? 1.0 : -1.0;
  const auto grow = [&](double sign) {
    const SignedConstraint constraint(w, sign, e);
    Sector out{.mass = 1.0 - crossing};
    for (std::size_t i = 0; i < constraint.count; ++i) {
      if (constraint.kappa[i] == 0.0) continue;
      out.arm[out.size] = constraint.arm[i];
      out.kappa[out.size++] = constraint.kappa[i];
    }
    return out;
  };
  return {grow(s), grow(-s), Sector{{w.a, w.b}, {-e, e}, 2, crossing}};
}

std::array<OneSidedEvidence::Sector, 3> OneSidedEvidence::sectors(const Samples& samples, const Witness& w) const {
  const Matrix& x = samples.estimates();
  return sectors(w, x(w.u, 0) - x(w.v, 0), x(w.a, 0) - x(w.b, 0));
}

OneSidedInfimum OneSidedEvidence::infimum(const Samples& samples, const Sector& sector, double too_little) {
  std::array<PushedArm, 4> pushed{};
  for (std::size_t i = 0; i < sector.size; ++i) pushed[i] = {&arm(samples, sector.arm[i]), sector.kappa[i]};
  ++work_;
  return search_.infimum(prior_, std::span(pushed).first(sector.size), prior_.log_mass(sector.mass), too_little);
}

double OneSidedEvidence::value(const Samples& samples, Point& point) {
  const Sector& sector = point.sector;
  sum_.assign(prior_.components(), prior_.log_mass(sector.mass));
  for (std::size_t i = 0; i < sector.size; ++i) {
    const Index m = sector.arm[i];
    if (point.count[i] != samples.count(m)) {
      const PushedArm pushed{&arm(samples, m), sector.kappa[i]};
      pushed.arm->values(prior_, pushed.side(), point.at[i], point.terms[i]);
      point.count[i] = samples.count(m);
    }
    for (std::size_t j = 0; j < sum_.size(); ++j) sum_[j] += point.terms[i][j];
  }
  return to_shares(sum_);
}

void OneSidedEvidence::keep(const Samples& samples, const Witness& w, const Sector& sector, const std::array<double, 4>& at) {
  Point point{w, sector, is_rising(samples, w), at, {}, {}};
  if (const auto old = std::ranges::find(points_, w, &Point::witness); old != points_.end()) {
    *old = std::move(point);
  } else if (points_.size() < most_points) {
    points_.push_back(std::move(point));
  } else {
    points_[next_] = std::move(point);
    next_ = (next_ + 1) % most_points;
  }
}

double OneSidedEvidence::against(const Situation& now, const Witness& w, double, Index) {
  double least = inf;
  for (const Sector& sector : sectors(now.samples, w)) least = std::min(least, infimum(now.samples, sector, -inf).lower);
  return least;
}

bool OneSidedEvidence::is_below(const Situation& now, const Witness& w, double level, Index) {
  const std::array key{w.u, w.v, w.b, w.a};
  const auto known = proofs_.find(key);
  if (known != proofs_.end() && known->second.lower >= level && known->second.count == counts_of(now.samples, w)) return false;
  const double below = level - sure * (1.0 + std::abs(level));
  const auto kept = std::ranges::find(points_, w, &Point::witness);
  if (kept != points_.end() && kept->rising == is_rising(now.samples, w) && value(now.samples, *kept) < below) return true;
  double least = inf;
  for (const Sector& sector : sectors(now.samples, w)) {
    const OneSidedInfimum found = infimum(now.samples, sector, below);
    if (!(found.lower >= level)) {
      keep(now.samples, w, sector, found.lambda);
      return true;
    }
    least = std::min(least, found.lower);
  }
  if (proofs_.size() >= most_proofs) proofs_.clear();
  proofs_[key] = {counts_of(now.samples, w), least};
  return false;
}

Index OneSidedEvidence::best_scale(const Situation& now, const Witness& w, Index scale) {
  const Matrix& x = now.lam;
  Point point{w, sectors(w, x(w.u, 0) - x(w.v, 0), x(w.a, 0) - x(w.b, 0))[0], false, {}, {}, {}};
  double weight = 0.0;
  for (std::size_t i = 0; i < point.sector.size; ++i) {
    point.at[i] = x(point.sector.arm[i], 0);
    weight += arm(now.samples, point.sector.arm[i]).scale() / static_cast<double>(point.sector.size);
  }
  (void)value(now.samples, point);
  const auto best = static_cast<std::size_t>(std::ranges::max_element(sum_) - sum_.begin());
  // in samples of these arms
  const double wanted = std::log(grid_[best] / weight);
  const auto off = [&](Index j) { return std::abs(std::log(grid_[static_cast<std::size_t>(j)]) - wanted); };
  for (Index j = 0; j < static_cast<Index>(grid_.size()); ++j) {
    if (off(j) < off(scale)) scale = j;
  }
  return scale;
}

// How far beyond its estimate, on either side, an arm can be pushed before its l_j is `level`; rounded outwards to a hundredth.
double OneSidedEvidence::reach(const Samples& samples, Index m, std::size_t j, double level) {
  const ShiftedArm& x = arm(samples, m);
  const double theta = samples.estimates()(m, 0);
  const auto end = [&](double side) {
    const PushedArm pushed{&x, side};
    const double last = side > 0.0 ? x.highest() : 0.0;
    const auto below = [&](double lam) {
      x.values(prior_, pushed.side(), lam, sum_);
      return sum_[j] < level;
    };
    double inner = theta, outer = theta, size = std::sqrt(x.variance());
    if (!below(theta)) return 0.0;
    for (int turn = 0; turn < 200; ++turn) {
      outer = side > 0.0 ? std::min(inner + size, last) : std::max(inner - size, last);
      if (outer == last || !below(outer)) break;
      inner = outer;
      size *= 2.0;
    }
    for (int turn = 0; turn < 60 && std::abs(outer - inner) > 0.01 * std::abs(outer - theta); ++turn) {
      const double middle = 0.5 * (inner + outer);
      (below(middle) ? inner : outer) = middle;
    }
    return std::abs(outer - theta);
  };
  return std::max(end(-1.0), end(1.0));
}

// Where the evidence is below the level at some lambda, no arm's l_j is above the level, less the mass of the component and
// less what l_j is at least for three others: that is its reach r. The constraint says that |q| - |p| is at most the sum of
// the r, a shared arm counted twice, whose square is at most 4 times the sum of the squares. A spread of 2 r^2 / share says so.
std::vector<SpreadBounds> OneSidedEvidence::bounds(const Situation& now, double level, Index first, const Witness&) {
  SpreadBounds out;
  const auto n = static_cast<std::size_t>(model_->n_arms());
  out.price.assign(n, -prior_.log_still());
  out.constant = -prior_.log_mass(crossing);
  out.least = largest_share(level + out.constant, out.price);
  for (Index m = 0; m < model_->n_arms(); ++m) {
    const double r = out.least > 0.0 ? reach(now.samples, m, static_cast<std::size_t>(first), out.least) : 0.0;
    out.spread.push_back(out.least > 0.0 ? std::min(2.0 * r * r / out.least, 1e300) : 0.0);
  }
  return {out};
}

}  // namespace linkarms
