#include "evidence/aligned.hpp"

#include <algorithm>
#include <cmath>

#include "evidence/aligned_search.hpp"
#include "math/constants.hpp"

namespace linkarms {
namespace {

/// Points that are kept.
constexpr std::size_t most_points = 64;
/// Proofs that are kept.
constexpr std::size_t most_proofs = 4096;

[[nodiscard]] std::array<Index, 4> arms_of(const Witness& w) {
  return {w.u, w.v, w.b, w.a};
}

}  // namespace

AlignedEvidence::AlignedEvidence(const Model& model, std::vector<double> grid, double discount)
    : model_(&model), rule_(AlignedRule::standard(std::move(grid), model.n_features(), discount)) {
  forget();
}

void AlignedEvidence::forget() {
  arms_.assign(static_cast<std::size_t>(model_->n_arms()), {});
  points_.clear();
  proofs_.clear();
  next_ = 0;
}

std::array<long long, 4> AlignedEvidence::counts(const Samples& samples, const Witness& w) {
  return {samples.count(w.u), samples.count(w.v), samples.count(w.b), samples.count(w.a)};
}

const AlignedArm& AlignedEvidence::arm(const Samples& samples, Index m, Place place) {
  Entry& entry = arms_[static_cast<std::size_t>(m)];
  if (entry.count != samples.count(m)) {
    const auto n = static_cast<double>(samples.count(m));
    const double variance = model_->arm(m).variance(samples.estimates().row(m));
    entry.places.clear();
    for (const Place at : {Place::intra, Place::inter}) entry.places.emplace_back(rule_, model_->n_features(), at, n, variance);
    entry.count = samples.count(m);
  }
  return entry.places[static_cast<std::size_t>(place)];
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

bool AlignedEvidence::is_below_at(const Samples& samples, const AlignedPiece& piece, Point& kept, double level) const {
  const auto index = arms_of(kept.witness);
  for (std::size_t i = 0; i < piece.size(); ++i) {
    if (kept.count[i] == samples.count(index[i])) continue;
    kept.point.refresh(piece, i);
    kept.count[i] = samples.count(index[i]);
  }
  return kept.point.value(piece) < level - sure * (1.0 + std::abs(level));
}

void AlignedEvidence::keep(const Samples& samples, const AlignedPiece& piece, const Witness& w, const Matrix& lambda) {
  Point point{w, {}, AlignedPoint(piece, lambda)};
  point.count = counts(samples, w);
  if (const auto old = std::ranges::find(points_, w, &Point::witness); old != points_.end()) {
    *old = std::move(point);
  } else if (points_.size() < most_points) {
    points_.push_back(std::move(point));
  } else {
    points_[next_] = std::move(point);
    next_ = (next_ + 1) % most_points;
  }
}

double AlignedEvidence::against(const Situation& now, const Witness& w, double level, Index) {
  const Bracket found = bracket_infimum(piece(now.samples, w), {.enough = level});
  work_ += 1 + found.boxes;
  return found.lower;
}

bool AlignedEvidence::is_below(const Situation& now, const Witness& w, double level, Index) {
  const auto known = proofs_.find(arms_of(w));
  if (known != proofs_.end() && known->second.lower >= level && known->second.count == counts(now.samples, w)) return false;
  const AlignedPiece tested = piece(now.samples, w);
  const auto kept = std::ranges::find(points_, w, &Point::witness);
  if (kept != points_.end()) {
    if (is_below_at(now.samples, tested, *kept, level)) return true;
  } else if (w == now.witness.oriented()) {
    keep(now.samples, tested, w, inside(now.lam, w));
    if (is_below_at(now.samples, tested, *std::ranges::find(points_, w, &Point::witness), level)) return true;
  }
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
