#include "evidence/aligned.hpp"

#include <algorithm>
#include <cmath>

#include "evidence/aligned_search.hpp"
#include "math/constants.hpp"
#include "pair/isotropic.hpp"

namespace linkarms {
namespace {

/// Points that are kept.
constexpr std::size_t most_points = 64;
/// Proofs that are kept.
constexpr std::size_t most_proofs = 4096;
/// Where a kept lambda has so much more than a level, another one is not tried.
constexpr double far_above = 1.0;
/// More than rounding can do to the sums of samples.
constexpr double rounding = 1e-3;

[[nodiscard]] std::array<Index, 4> arms_of(const Witness& w) {
  return {w.u, w.v, w.b, w.a};
}

}  // namespace

AlignedEvidence::AlignedEvidence(const Model& model, std::vector<double> grid, double discount)
    : model_(&model), rule_(AlignedRule::standard(std::move(grid), model.n_features(), discount)) {
  forget();
}

void AlignedEvidence::forget() {
  for (auto& arms : arms_) arms.assign(static_cast<std::size_t>(model_->n_arms()), {});
  points_.clear();
  proofs_.clear();
  next_ = 0;
}

std::array<long long, 4> AlignedEvidence::counts(const Samples& samples, const Witness& w) {
  return {samples.count(w.u), samples.count(w.v), samples.count(w.b), samples.count(w.a)};
}

const AlignedArm& AlignedEvidence::arm(const Samples& samples, Index m, Place place) {
  Entry& entry = arms_[static_cast<std::size_t>(place)][static_cast<std::size_t>(m)];
  if (entry.count != samples.count(m)) {
    const double variance = model_->arm(m).variance(samples.estimates().row(m));
    entry.arm.emplace(rule_, model_->n_features(), place, static_cast<double>(samples.count(m)), variance);
    entry.count = samples.count(m);
  }
  return *entry.arm;
}

AlignedPiece AlignedEvidence::piece(const Samples& samples, const Witness& w) {
  const auto index = arms_of(w);
  std::array<const AlignedArm*, 4> arms{};
  std::array<View, 4> means;
  for (std::size_t i = 0; i < 4; ++i) {
    const bool intra = i == role_v || (i == role_u && !w.shared());
    arms[i] = &arm(samples, index[i], intra ? Place::intra : Place::inter);
    means[i] = samples.mean(index[i]);
  }
  return {rule_, arms, means, w.shared()};
}

Matrix AlignedEvidence::inside(const Matrix& lam, const Witness& w) {
  const auto index = arms_of(w);
  const Index d = lam.cols(), n = w.shared() ? 3 : 4;
  Matrix out(n, d);
  for (Index i = 0; i < n; ++i) std::ranges::copy(lam.row(index[static_cast<std::size_t>(i)]), out.row(i).begin());
  const Index a = w.shared() ? role_u : role_a;
  double intra = 0.0, inter = 0.0;
  for (Index k = 0; k < d; ++k) {
    intra += (out(role_u, k) - out(role_v, k)) * (out(role_u, k) - out(role_v, k));
    inter += (out(a, k) - out(role_b, k)) * (out(a, k) - out(role_b, k));
  }
  if (inter > intra * (1.0 - 1e-12)) {
    const double share = std::sqrt(intra / inter) * (1.0 - 1e-12);
    for (Index k = 0; k < d; ++k) out(role_b, k) = out(a, k) + share * (out(role_b, k) - out(a, k));
  }
  return out;
}

double AlignedEvidence::most_at(const Samples& samples, const Point& kept) const {
  const auto index = arms_of(kept.witness);
  const Matrix& lambda = kept.point.lambda();
  double most = kept.value;
  for (Index i = 0; i < lambda.rows(); ++i) {
    const Index m = index[static_cast<std::size_t>(i)];
    const auto n = static_cast<double>(samples.count(m)), before = static_cast<double>(kept.count[static_cast<std::size_t>(i)]);
    if (n == before) continue;
    double square = 0.0;
    for (Index k = 0; k < lambda.cols(); ++k) {
      const double sum = n * (samples.mean(m)[k] - lambda(i, k)) - before * (kept.means(i, k) - lambda(i, k));
      square += sum * sum;
    }
    most += square / (2.0 * (n - before) * model_->arm(m).variance(samples.estimates().row(m)));
  }
  return most;
}

double AlignedEvidence::value_at(const Samples& samples, const AlignedPiece& piece, Point& kept) const {
  const auto index = arms_of(kept.witness);
  for (std::size_t i = 0; i < piece.size(); ++i) {
    if (kept.count[i] == samples.count(index[i])) continue;
    kept.point.refresh(piece, i);
    kept.count[i] = samples.count(index[i]);
    std::ranges::copy(piece.mean(i), kept.means.row(static_cast<Index>(i)).begin());
  }
  return kept.value = kept.point.value(piece);
}

AlignedEvidence::Point* AlignedEvidence::find_point(const Witness& w) {
  const auto found = std::ranges::find(points_, w, &Point::witness);
  return found == points_.end() ? nullptr : &*found;
}

AlignedEvidence::Point& AlignedEvidence::keep(const Samples& samples, const AlignedPiece& piece, const Witness& w,
                                              const Matrix& lambda) {
  Point point{w, counts(samples, w), Matrix(lambda.rows(), lambda.cols()), 0.0, AlignedPoint(piece, lambda)};
  for (Index i = 0; i < lambda.rows(); ++i) {
    std::ranges::copy(piece.mean(static_cast<std::size_t>(i)), point.means.row(i).begin());
  }
  point.value = point.point.value(piece);
  Point* place = find_point(w);
  if (!place && points_.size() < most_points) return points_.emplace_back(std::move(point));
  if (!place) {
    place = &points_[next_];
    next_ = (next_ + 1) % most_points;
  }
  return *place = std::move(point);
}

double AlignedEvidence::against(const Situation& now, const Witness& w, double level, Index) {
  const Bracket found = bracket_infimum(piece(now.samples, w), {.enough = level});
  work_ += 1 + found.boxes;
  return found.lower;
}

bool AlignedEvidence::is_proved(const Samples& samples, const Witness& w, double level) const {
  const auto known = proofs_.find(arms_of(w));
  return known != proofs_.end() && known->second.lower >= level && known->second.count == counts(samples, w);
}

Matrix AlignedEvidence::isotropic_minimiser(const Situation& now, const AlignedPiece& piece, const Witness& w, Index j) const {
  const auto index = arms_of(w);
  std::vector<double> spread(static_cast<std::size_t>(now.samples.n_arms()), 1.0);
  for (std::size_t i = 0; i < piece.size(); ++i) spread[index[i]] = 1.0 / piece.arm(i)[static_cast<std::size_t>(j)].weight;
  Matrix lam = now.samples.means();
  isotropic_solution(now.samples.means(), now.dist, spread, w, lam);
  return inside(lam, w);
}

bool AlignedEvidence::is_known_below(const Situation& now, const Witness& w, double level, Index first) {
  const double below = level - sure * (1.0 + std::abs(level));
  Point* kept = find_point(w);
  // (prices that were divided are not those of likelihood ratios)
  if (kept && rule_.discount() == 1.0 && most_at(now.samples, *kept) < below - rounding) return true;
  last_known_ = inf;
  if (is_proved(now.samples, w, level)) return false;
  const AlignedPiece tested = piece(now.samples, w);
  if (kept && value_at(now.samples, tested, *kept) < below) return true;
  last_known_ = kept ? kept->value : inf;
  if (kept && kept->value > level + far_above) return false;
  const AlignedPoint point(tested, isotropic_minimiser(now, tested, w, first));
  const double value = point.value(tested);
  if (value < last_known_) keep(now.samples, tested, w, point.lambda());
  last_known_ = std::min(value, last_known_);
  return value < below;
}

bool AlignedEvidence::is_below(const Situation& now, const Witness& w, double level, Index first) {
  if (is_known_below(now, w, level, first)) return true;
  if (is_proved(now.samples, w, level)) return false;
  const AlignedPiece tested = piece(now.samples, w);
  const Bracket found = bracket_infimum(tested, {.enough = level, .too_little = level});
  if (found.lower >= level) {
    if (proofs_.size() >= most_proofs) proofs_.clear();
    proofs_[arms_of(w)] = {counts(now.samples, w), found.lower};
    return false;
  }
  keep(now.samples, tested, w, found.lambda);
  return true;
}

Index AlignedEvidence::best_scale(const Situation& now, const Witness& w, Index scale) {
  const AlignedPiece tested = piece(now.samples, w);
  const AlignedPoint point(tested, inside(now.lam, w));
  const Components terms = point.log_terms(tested);
  const auto end = terms.begin() + static_cast<std::ptrdiff_t>(rule_.grid().size());
  const auto best = std::max_element(terms.begin(), end);
  return *best > terms[static_cast<std::size_t>(scale)] ? static_cast<Index>(best - terms.begin()) : scale;
}

std::vector<SpreadBounds> AlignedEvidence::bounds(const Situation& now, double, Index first, const Witness& at) {
  const Samples& samples = now.samples;
  const auto at_scale = [&](Index j) {
    SpreadBounds out;
    for (Index m = 0; m < samples.n_arms(); ++m) {
      const AlignedArm::Terms& x = arm(samples, m, Place::inter)[static_cast<std::size_t>(j)];
      out.spread.push_back(1.0 / x.weight);
      out.price.push_back(x.price);
    }
    out.constant = -rule_.log_mass_isotropic();
    return out;
  };
  std::vector<SpreadBounds> out{at_scale(first)};
  if (!at.exists()) return out;
  const AlignedPiece there = piece(samples, at.oriented());
  const Index best = isotropic_part(there, PairDifferences(there)).scale;
  if (best != first) out.insert(out.begin(), at_scale(best));
  return out;
}

}  // namespace linkarms
