#include "evidence/own_variance.hpp"

#include <utility>

#include "evidence/tables.hpp"
#include "math/shares.hpp"

namespace linkarms {
namespace {

/// The weight s of the parts in which all arms count.
constexpr double together = 0.7;
/// The weight of a c is c^-grid_power: small c a little more, where gaps are wide, samples few and the prices most of what is
/// paid.
constexpr double grid_power = 0.1;
/// Shares below this are left out.
constexpr double least_share = 1e-3;
/// Pieces of which something is kept.
constexpr std::size_t most_known = 4096;

}  // namespace

OwnVarianceEvidence::OwnVarianceEvidence(const Model& model, std::vector<double> grid, double discount, double tolerance,
                                         Shapes shapes, std::optional<Limits> limits)
    : model_(&model), grid_(std::move(grid)), discount_(discount), tolerance_(tolerance), shapes_(shapes), limits_(limits) {
  double sum = 0.0;
  for (const double c : grid_) sum += std::pow(c, -grid_power);
  for (const double c : grid_) {
    const double log_weight = -grid_power * std::log(c) - std::log(sum);
    log_all_.push_back(std::log(together) + log_weight);
    for (std::size_t n = 2; n <= 4; ++n) {
      log_alone_[n - 2].push_back(std::log((1.0 - together) / static_cast<double>(n)) + log_weight);
    }
  }
  forget();
}

bool OwnVarianceEvidence::has_many_arms() const {
  return model_->n_arms() > most_proved_arms;
}

void OwnVarianceEvidence::forget() {
  entries_.assign(static_cast<std::size_t>(model_->n_arms()), {});
  known_.clear();
}

OwnVarianceEvidence::Entry& OwnVarianceEvidence::entry(const Samples& samples, Index m) {
  Entry& own = entries_[static_cast<std::size_t>(m)];
  if (own.count == samples.count(m)) return own;
  const Index d = model_->n_features();
  const double n = samples.count(m);
  own = {samples.count(m), ArmShape(model_->variances(), d, n, samples.moments(m)), {}, {}, {}};
  for (const double c : grid_) {
    const ArmMixture mixture(own.shape, model_->variances(), d, n, c, limits_ || has_many_arms());
    own.rise.push_back(mixture.rise);
    own.price.push_back(mixture.price / discount_);
  }
  own.table = RiseTable(own.rise);
  if (shapes_ == Shapes::round) own.shape = own.shape.rounded();
  return own;
}

OwnVarianceEvidence::Known& OwnVarianceEvidence::known(const Witness& w, const std::array<long long, 4>& count, Index first) {
  std::uint64_t key = 0;  // (of a pair under a threshold two are -1)
  for (const Index m : {w.u, w.v, w.b, w.a}) {
    key = key * static_cast<std::uint64_t>(model_->n_arms() + 1) + static_cast<std::uint64_t>(m + 1);
  }
  if (known_.size() >= most_known) known_.clear();
  Known& own = known_[key];
  if (!(own.witness == w)) {
    own = {};
    own.witness = w;
  }
  if (own.count == count && own.first == first) return own;
  for (std::size_t i = 0; i < count.size(); ++i) {
    if (own.count[i] == count[i]) continue;
    own.value = inf;
    own.stale[i] = true;
  }
  own.count = count;
  own.first = first;
  own.reached = -inf;
  own.missed = inf;
  own.searched = false;
  return own;
}

OwnVarianceEvidence::Piece OwnVarianceEvidence::piece(const Situation& now, const Witness& w, Index first) {
  const std::size_t per = shapes_ == Shapes::round ? 1 : forms_per_arm(*model_);
  Piece out{now, w, {w.u, w.v, w.b, w.a}, w.shared() ? 3U : 4U, per, {}, nullptr, nullptr, nullptr, {}};
  if (limits_) {
    const auto [one, other] = TwoArms(w);
    out.arms = {one, other};
    out.count = 2;
  }
  std::array<long long, 4> count{};
  for (std::size_t i = 0; i < out.count; ++i) {
    out.entries[i] = &entry(now.samples, out.arms[i]);
    count[i] = out.entries[i]->count;
  }
  out.known = &known(w, count, first);
  out.t.assign(out.count * out.per, 0.0);
  return out;
}

void OwnVarianceEvidence::make_forms(Piece& piece) const {
  if (piece.forms) return;
  std::array<const ArmShape*, 4> shapes{};
  for (std::size_t i = 0; i < piece.count; ++i) shapes[i] = &piece.entries[i]->shape;
  const Situation& now = piece.now;
  if (limits_) {
    piece.forms = make_two_arm_forms(now.samples, *limits_, piece.witness, shapes);
  } else if (shapes_ == Shapes::round) {
    piece.forms = make_distance_forms(now.samples, now.dist, piece.witness, shapes);
  } else {
    piece.forms = make_variance_forms(now.samples, piece.witness, shapes);
    piece.sectors = make_variance_sectors(now.samples, piece.witness, shapes, average(piece));
  }
}

VarianceAverage OwnVarianceEvidence::average(const Piece& piece) const {
  std::array<RiseTable*, 4> tables{};
  std::vector<double> all = log_all_, alone;
  for (std::size_t i = 0; i < piece.count; ++i) {
    tables[i] = &piece.entries[i]->table;
    for (std::size_t j = 0; j < grid_.size(); ++j) {
      all[j] -= piece.entries[i]->price[j];
      alone.push_back(log_alone(j, piece.count) - piece.entries[i]->price[j]);
    }
  }
  return {std::span(tables).first(piece.count), piece.per, std::move(all), std::move(alone)};
}

bool OwnVarianceEvidence::is_free(const Piece& piece) const {
  const Witness& w = piece.witness;
  const Distances& dist = piece.now.dist;
  const double stretch = shapes_ == Shapes::own ? tolerance_ : 0.0;  // what the forms take no account of
  if (limits_ ? limits_->gap(w, dist) <= 0.0 : dist(w.a, w.b) - stretch <= dist(w.u, w.v)) return true;
  return std::any_of(piece.entries.begin(), piece.entries.begin() + static_cast<std::ptrdiff_t>(piece.count),
                     [](const Entry* e) { return e->shape.flat; });
}

double OwnVarianceEvidence::arm_evidence(const Piece& piece, std::size_t i, std::size_t j) const {
  double total = -piece.entries[i]->price[j];
  for (const double t : piece.of(i)) {
    if (t > 0.0) total += piece.entries[i]->rise[j].rise(t);
  }
  return total;
}

double OwnVarianceEvidence::log_evidence(const Piece& piece) const {
  std::vector<double> terms;
  terms.reserve(piece.count * grid_.size());
  for (std::size_t i = 0; i < piece.count; ++i) {
    for (std::size_t j = 0; j < grid_.size(); ++j) terms.push_back(arm_evidence(piece, i, j));
  }
  return log_average(terms, piece.count);
}

double OwnVarianceEvidence::log_average(std::span<const double> terms, std::size_t n_arms) const {
  std::vector<double> parts;
  parts.reserve(grid_.size() * (n_arms + 1));
  for (std::size_t j = 0; j < grid_.size(); ++j) {
    const double alone = log_alone(j, n_arms);
    double total = 0.0;
    for (std::size_t i = 0; i < n_arms; ++i) {
      const double own = terms[i * grid_.size() + j];
      total += own;
      parts.push_back(own + alone);
    }
    parts.push_back(total + log_all(j));
  }
  return to_shares(parts);
}

ConcaveGoal OwnVarianceEvidence::goal_of(const Piece& piece, Index scale) const {
  ConcaveGoal goal{{}, 0.0};
  for (std::size_t i = 0; i < piece.count; ++i) {
    AveragedRise own;
    own.add(1.0, piece.entries[i]->rise[static_cast<std::size_t>(scale)]);
    goal.rises.insert(goal.rises.end(), piece.per, own);
  }
  return goal;
}

ConcaveGoal OwnVarianceEvidence::goal_at(const Piece& piece, double level) const {
  const std::size_t parts = piece.count + 1, last = piece.count;  // at each c: every arm alone, and all of them
  std::vector<double> share(grid_.size() * parts), of_scale(grid_.size(), 0.0);
  for (std::size_t j = 0; j < grid_.size(); ++j) {
    double total = 0.0;
    for (std::size_t i = 0; i < piece.count; ++i) {
      const double own = arm_evidence(piece, i, j);
      total += own;
      share[j * parts + i] = own + log_alone(j, piece.count);
    }
    share[j * parts + last] = total + log_all(j);
  }
  to_shares(share);
  for (std::size_t k = 0; k < share.size(); ++k) of_scale[k / parts] += share[k];
  std::vector<std::size_t> order = largest_first(of_scale);
  order.resize(std::min(order.size(), AveragedRise::most));
  double sum = 0.0;
  for (const std::size_t j : order) {
    for (double& x : std::span(share).subspan(j * parts, parts)) {
      if (x < least_share) x = 0.0;
      sum += x;
    }
  }
  ConcaveGoal goal{{}, level};
  std::vector<AveragedRise> own(piece.count);
  for (const std::size_t j : order) {
    for (std::size_t k = 0; k < parts; ++k) {
      const double q = share[j * parts + k] / sum;
      if (q > 0.0) goal.needed += q * (std::log(q) - (k == last ? log_all(j) : log_alone(j, piece.count)));
    }
    for (std::size_t i = 0; i < piece.count; ++i) {
      const double q = (share[j * parts + i] + share[j * parts + last]) / sum;
      if (!(q > 0.0)) continue;
      own[i].add(q, piece.entries[i]->rise[j]);
      goal.needed += q * piece.entries[i]->price[j];
    }
  }
  for (const AveragedRise& rise : own) goal.rises.insert(goal.rises.end(), piece.per, rise);
  return goal;
}

// With many arms proofs are short, and what forbids a stop is often that they do not come to an end: then it is known only by
// trying.
bool OwnVarianceEvidence::is_known_below(const Situation& now, const Witness& w, double level, Index first) {
  if (has_many_arms()) return is_below(now, w, level, first);
  Piece piece = this->piece(now, w, first);
  if (is_free(piece)) return (last_known_ = log_evidence(piece)) < level;
  if (piece.known->missed <= level) return true;
  if (piece.known->reached >= level) {
    last_known_ = inf;
    return false;
  }
  return is_low_somewhere(piece, first, level);
}

bool OwnVarianceEvidence::is_below(const Situation& now, const Witness& w, double level, Index first) {
  Piece piece = this->piece(now, w, first);
  if (is_free(piece)) return log_evidence(piece) < level;
  Known& known = *piece.known;
  if (known.missed <= level) return true;
  if (known.reached >= level) return false;
  if (is_low_somewhere(piece, first, level)) return true;
  if (is_reached(piece, first, level)) {
    known.reached = level;
    return false;
  }
  known.missed = level;
  return true;
}

double OwnVarianceEvidence::against(const Situation& now, const Witness& w, double level, Index first) {
  Piece piece = this->piece(now, w, first);
  ++work_;
  if (is_free(piece)) return log_evidence(piece);
  make_forms(piece);
  const bool reached = level < inf && is_quickly_proved(piece, first, level);
  const double found = reached ? level : infimum(piece, first, level, -inf, Use::nothing);
  const long long half = std::max<Index>(model_->n_features(), 2) / 2;
  work_ += piece.forms->solved() * half * half * half + (piece.sectors ? piece.sectors->boxes() : 0);
  return found;
}

Index OwnVarianceEvidence::best_scale(const Situation& now, const Witness& w, Index scale) {
  Piece piece = this->piece(now, w, scale);
  if (!is_free(piece)) {
    make_forms(piece);
    find_low(piece, scale);
  }
  return largest_scale(piece, scale);
}

Index OwnVarianceEvidence::largest_scale(const Piece& piece, Index scale) const {
  double most = -inf;
  for (std::size_t j = 0; j < grid_.size(); ++j) {
    double value = 0.0;
    for (std::size_t i = 0; i < piece.count; ++i) value += arm_evidence(piece, i, j);
    if (value > most) {
      most = value;
      scale = static_cast<Index>(j);
    }
  }
  return scale;
}

}  // namespace linkarms
