#include "evidence/aligned.hpp"

#include <algorithm>
#include <cmath>

#include "math/constants.hpp"

namespace linkarms {
namespace {

/// Pieces of which something is kept.
constexpr std::size_t most_known = 4096;
/// Where a kept lambda has so much more than a level, another one is not tried.
constexpr double far_above = 1.5;
/// More than rounding can do to the sums of samples.
constexpr double rounding = 1e-3;

[[nodiscard]] std::array<Index, 4> arms_of(const Witness& w) {
  return {w.u, w.v, w.b, w.a};
}

[[nodiscard]] std::uint64_t key(const Witness& w, Index n_arms) {
  std::uint64_t out = 0;
  for (const Index m : arms_of(w)) out = out * static_cast<std::uint64_t>(n_arms) + static_cast<std::uint64_t>(m);
  return out;
}

}  // namespace

AlignedEvidence::AlignedEvidence(const Model& model, std::vector<double> grid, double discount)
    : model_(&model), rule_(AlignedRule::standard(std::move(grid), model.n_features(), discount)) {
  forget();
}

void AlignedEvidence::forget() {
  for (auto& arms : arms_) arms.assign(static_cast<std::size_t>(model_->n_arms()), {});
  known_.clear();
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

AlignedEvidence::Known* AlignedEvidence::find(const Witness& w) {
  const auto found = known_.find(key(w, model_->n_arms()));
  return found == known_.end() ? nullptr : &found->second;
}

double AlignedEvidence::most_at(const Samples& samples, const Witness& w, const Known& known) const {
  const auto index = arms_of(w);
  const Matrix& lambda = known.point.lambda();
  double most = known.value;
  for (Index i = 0; i < lambda.rows(); ++i) {
    const Index m = index[static_cast<std::size_t>(i)];
    const auto n = static_cast<double>(samples.count(m)), before = static_cast<double>(known.count[static_cast<std::size_t>(i)]);
    if (n == before) continue;
    double square = 0.0;
    for (Index k = 0; k < lambda.cols(); ++k) {
      const double sum = n * (samples.mean(m)[k] - lambda(i, k)) - before * (known.means(i, k) - lambda(i, k));
      square += sum * sum;
    }
    most += square / (2.0 * (n - before) * model_->arm(m).variance(samples.estimates().row(m)));
  }
  return most;
}

void AlignedEvidence::keep_better(const AlignedPiece& piece, Known& known, Bracket found) {
  known.lower = std::max(known.lower, found.lower);
  if (!(found.upper < known.value)) return;
  known.value = found.upper;
  known.at = found.at;
  known.point = std::move(found.point);
  known.means = Matrix(static_cast<Index>(piece.size()), piece.dimension());
  for (std::size_t i = 0; i < piece.size(); ++i) std::ranges::copy(piece.mean(i), known.means.row(static_cast<Index>(i)).begin());
}

AlignedEvidence::Known& AlignedEvidence::bring_up_to_date(const Situation& now, const AlignedPiece& piece, const Witness& w,
                                                          double level) {
  if (known_.size() >= most_known) known_.clear();
  Known& known = known_[key(w, model_->n_arms())];
  const auto count = counts(now.samples, w);
  if (known.count == count) return known;
  known.lower = -inf;
  known.searched = known.value == inf;
  if (known.searched) {
    known.count = count;
    keep_better(piece, known, look_below(piece, std::nullopt, level));
    return known;
  }
  for (std::size_t i = 0; i < piece.size(); ++i) {
    if (known.count[i] == count[i]) continue;
    known.point.refresh(piece, i);
    std::ranges::copy(piece.mean(i), known.means.row(static_cast<Index>(i)).begin());
  }
  known.count = count;
  known.value = known.point.value(piece);
  return known;
}

double AlignedEvidence::against(const Situation& now, const Witness& w, double level, Index) {
  const Bracket found = bracket_infimum(piece(now.samples, w), {.enough = level});
  work_ += 1 + found.boxes;
  return found.lower;
}

bool AlignedEvidence::is_known_below(const Situation& now, const Witness& w, double level, Index) {
  const double below = level - sure * (1.0 + std::abs(level));
  // (prices that were divided are not those of likelihood ratios)
  if (const Known* kept = find(w); kept && rule_.discount() == 1.0 && most_at(now.samples, w, *kept) < below - rounding)
    return true;
  const AlignedPiece tested = piece(now.samples, w);
  Known& known = bring_up_to_date(now, tested, w, level);
  last_known_ = inf;
  if (known.lower >= level) return false;
  if (known.value >= below && known.value <= level + far_above && !known.searched) {
    known.searched = true;
    keep_better(tested, known, look_below(tested, known.at, level));
  }
  last_known_ = known.value;
  return known.value < below;
}

bool AlignedEvidence::is_below(const Situation& now, const Witness& w, double level, Index first) {
  if (is_known_below(now, w, level, first)) return true;
  Known& known = *find(w);
  if (known.lower >= level) return false;
  const AlignedPiece tested = piece(now.samples, w);
  Bracket found = bracket_infimum(tested, {.enough = level, .too_little = level});
  const bool proved = found.lower >= level;
  keep_better(tested, known, std::move(found));
  return !proved;
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
