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
/// Forms of two arms whose weights are searched one by one; of more, only the weight of an arm against the other.
constexpr std::size_t most_turned = 8;
/// How near halving comes to the infimum.
constexpr double precision = 1e-3;
/// Points that are kept: enough for the edges of four arms, twice.
constexpr std::size_t most_points = 12;

}  // namespace

OwnVarianceEvidence::OwnVarianceEvidence(const Model& model, std::vector<double> grid, double discount, double tolerance,
                                         Shapes shapes, std::optional<Limits> limits)
    : model_(&model), grid_(std::move(grid)), discount_(discount), tolerance_(tolerance), shapes_(shapes), limits_(limits) {
  double sum = 0.0;
  for (const double c : grid_) sum += std::pow(c, -grid_power);
  for (const double c : grid_) log_weight_.push_back(-grid_power * std::log(c) - std::log(sum));
  forget();
}

bool OwnVarianceEvidence::has_many_arms() const {
  return model_->n_arms() > most_proved_arms;
}

void OwnVarianceEvidence::forget() {
  entries_.assign(static_cast<std::size_t>(model_->n_arms()), {});
  points_.assign(most_points, {});
}

const OwnVarianceEvidence::Entry& OwnVarianceEvidence::entry(const Samples& samples, Index m) {
  Entry& own = entries_[static_cast<std::size_t>(m)];
  if (own.count == samples.count(m)) return own;
  const Index d = model_->n_features();
  const double n = samples.count(m);
  own = {samples.count(m), ArmShape(model_->variances(), d, n, samples.moments(m)), {}, {}};
  for (const double c : grid_) {
    const ArmMixture mixture(own.shape, model_->variances(), d, n, c, limits_ || has_many_arms());
    own.rise.push_back(mixture.rise);
    own.price.push_back(mixture.price / discount_);
  }
  if (shapes_ == Shapes::round) own.shape = own.shape.rounded();
  return own;
}

OwnVarianceEvidence::Piece OwnVarianceEvidence::piece(const Situation& now, const Witness& w) {
  const std::size_t per = shapes_ == Shapes::round ? 1 : forms_per_arm(*model_);
  Piece out{w, {w.u, w.v, w.b, w.a}, w.shared() ? 3U : 4U, per, {}, nullptr, {}};
  if (limits_) {
    const auto [first, second] = TwoArms(w);
    out.arms = {first, second};
    out.count = 2;
  }
  for (std::size_t i = 0; i < out.count; ++i) out.entries[i] = &entry(now.samples, out.arms[i]);
  out.t.assign(out.count * out.per, 0.0);
  return out;
}

void OwnVarianceEvidence::make_forms(const Situation& now, Piece& piece) const {
  std::array<const ArmShape*, 4> shapes{};
  for (std::size_t i = 0; i < piece.count; ++i) shapes[i] = &piece.entries[i]->shape;
  if (limits_) {
    piece.forms = make_two_arm_forms(now.samples, *limits_, piece.witness, shapes);
  } else if (shapes_ == Shapes::round) {
    piece.forms = make_distance_forms(now.samples, now.dist, piece.witness, shapes);
  } else {
    piece.forms = make_variance_forms(now.samples, piece.witness, shapes);
  }
}

bool OwnVarianceEvidence::is_free(const Situation& now, const Piece& piece) const {
  const Witness& w = piece.witness;
  const double stretch = shapes_ == Shapes::own ? tolerance_ : 0.0;  // what the forms take no account of
  if (limits_ ? limits_->gap(w, now.dist) <= 0.0 : now.dist(w.a, w.b) - stretch <= now.dist(w.u, w.v)) return true;
  return std::any_of(piece.entries.begin(), piece.entries.begin() + static_cast<std::ptrdiff_t>(piece.count),
                     [](const Entry* e) { return e->shape.flat; });
}

double OwnVarianceEvidence::log_all(std::size_t j) const {
  return std::log(together) + log_weight_[j];
}

double OwnVarianceEvidence::log_alone(std::size_t j, std::size_t n_arms) const {
  return std::log((1.0 - together) / static_cast<double>(n_arms)) + log_weight_[j];
}

double OwnVarianceEvidence::arm_evidence(const Piece& piece, std::size_t i, std::size_t j) const {
  double total = -piece.entries[i]->price[j];
  for (const double t : piece.of(i)) {
    if (t > 0.0) total += piece.entries[i]->rise[j].rise(t);
  }
  return total;
}

double OwnVarianceEvidence::log_evidence(const Piece& piece) const {
  std::vector<double> parts;
  for (std::size_t j = 0; j < grid_.size(); ++j) {
    const double all = log_all(j), alone = log_alone(j, piece.count);
    double total = 0.0;
    for (std::size_t i = 0; i < piece.count; ++i) {
      const double own = arm_evidence(piece, i, j);
      total += own;
      parts.push_back(own + alone);
    }
    parts.push_back(total + all);
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

bool OwnVarianceEvidence::recall(const Situation& now, Piece& piece) const {
  const auto found = std::ranges::find(points_, piece.witness, &Point::witness);
  if (found == points_.end()) return false;
  for (std::size_t i = 0; i < piece.count; ++i) {
    piece.entries[i]->shape.forms(now.samples.mean(piece.arms[i]), found->lam.row(static_cast<Index>(i)),
                                  std::span(piece.t).subspan(i * piece.per, piece.per));
  }
  piece.forms->renew(piece.t);
  return true;
}

void OwnVarianceEvidence::keep(const Piece& piece, const Matrix& lam) {
  auto found = std::ranges::find(points_, piece.witness, &Point::witness);
  if (found == points_.end()) {
    found = points_.begin() + static_cast<std::ptrdiff_t>(next_);
    next_ = (next_ + 1) % points_.size();
  }
  *found = {piece.witness, lam};
}

// log E rises with every t, so that its least value is where sum_k w_k t_k is least for some w: they are searched one
// after the other.
void OwnVarianceEvidence::share_the_way(Piece& piece, const std::function<void()>& consider) const {
  std::vector<double> log_weight(piece.t.size(), 0.0), weight(piece.t.size());
  double least = inf;
  const auto try_at = [&](std::size_t first, std::size_t count, double step) {
    std::vector<double> turned = log_weight;
    for (double& x : std::span(turned).subspan(first, count)) x += step;
    std::ranges::transform(turned, weight.begin(), [](double x) { return std::exp(x); });
    piece.forms->solve(weight, piece.t);
    consider();
    if (const double value = log_evidence(piece); value < least) {
      least = value;
      log_weight = std::move(turned);
    }
  };
  const std::vector<double> equal = log_weight;
  std::vector<double> best = equal;
  for (double x = -6.0; x <= 6.0; x += 0.5) {  // of the first arm against the second
    const double before = least;
    log_weight = equal;
    try_at(0, piece.per, x);
    if (least < before) best = log_weight;
  }
  log_weight = best;
  const std::size_t groups = piece.t.size() <= most_turned ? piece.t.size() : 1, size = groups > 1 ? 1 : piece.per;
  for (double step = groups > 1 && piece.per > 1 ? 2.0 : 0.25; step > 0.01; step *= 0.5) {
    for (std::size_t k = 0; k < groups; ++k) {
      try_at(k * size, size, step);
      try_at(k * size, size, -step);
    }
  }
}

// Nothing that is kept enters: a proof begins here, and must not depend on what was asked before.
double OwnVarianceEvidence::find_low(Piece& piece, Index first) {
  const std::vector<double> zero(piece.t.size(), 0.0);
  std::vector<double> best_t = zero;
  Matrix best_lam;
  double best = inf;
  const auto consider = [&] {
    const double value = log_evidence(piece);
    if (!(value < best)) return;
    best = value;
    best_t = piece.t;
    best_lam = piece.forms->lam();
  };
  const auto go = [&](const ConcaveGoal& goal, const std::vector<double>& from) {
    piece.t = from;
    descend(*piece.forms, goal.rises, piece.t);
    consider();
  };
  const ConcaveGoal goal = goal_of(piece, first);
  go(goal, zero);
  if (limits_) share_the_way(piece, consider);
  for (std::size_t i = 0; i < piece.count; ++i) {  // one arm that goes nearly the whole way
    std::vector<double> from = zero;
    for (std::size_t k = 0; k < piece.per; ++k) from[i * piece.per + k] = 1e4;
    go(goal, from);
  }
  piece.t = best_t;
  go(goal_at(piece, 0.0), std::vector<double>(best_t));
  piece.t = std::move(best_t);
  keep(piece, best_lam);
  return best;
}

// log E >= l_mj + log_alone for each arm and c: where that reaches the level, nothing is left to prove, so each t
// has a cap.
bool OwnVarianceEvidence::is_proved(Piece& piece, double level, double patience) {
  const double wanted = level + sure * (1.0 + std::abs(level));
  std::vector<double> caps;
  for (std::size_t i = 0; i < piece.count; ++i) {
    const Entry& own = *piece.entries[i];
    double cap = inf;
    for (std::size_t j = 0; j < grid_.size(); ++j) {
      const double rise = wanted + own.price[j] - log_alone(j, piece.count);
      if (cap == inf || own.rise[j].rise(cap) > rise) cap = std::min(cap, own.rise[j].reach(rise));
    }
    caps.insert(caps.end(), piece.per, std::max(cap, 1e-300));
  }
  const std::vector<double> start = piece.t;
  const auto propose = [&](std::span<const double> t) -> std::optional<ConcaveGoal> {
    std::ranges::copy(t, piece.t.begin());
    ConcaveGoal goal = goal_at(piece, wanted);
    double value = 0.0;
    for (std::size_t k = 0; k < t.size(); ++k) value += goal.rises[k].rise(t[k]);
    if (value < goal.needed) return std::nullopt;  // (what leaving out small shares lost is lost)
    return goal;
  };
  // two arms are quickly moved, and the boxes of pairs under a threshold need to be smaller
  const bool reached = is_reached(*piece.forms, caps, start, propose, limits_ ? 4.0 * patience : patience);
  if (!reached) keep(piece, piece.forms->lam());
  return reached;
}

// By halving between what holds everywhere and the low point. The order of the questions does not depend on the level,
// which only ends them early: whether a level is reached does not depend on how it is asked.
double OwnVarianceEvidence::halve(Piece& piece, Index first, double enough, double too_little) {
  std::ranges::fill(piece.t, 0.0);
  double low = log_evidence(piece);  // no rise is negative
  double high = find_low(piece, first);
  const Index best = largest_scale(piece, first);  // what is found must not depend on the c that it began with
  if (best != first) high = find_low(piece, best);
  const std::vector<double> at = piece.t, near = first_move(piece, best);
  const auto is_proved_from = [&](const std::vector<double>& t, double level) {
    piece.t = t;
    return is_proved(piece, level, 1.0);
  };
  while (high - low > precision * (1.0 + std::abs(high)) && low < enough && high >= too_little) {
    const double middle = 0.5 * (low + high);
    (is_proved_from(at, middle) || is_proved_from(near, middle) ? low : high) = middle;
  }
  return low;
}

std::vector<double> OwnVarianceEvidence::first_move(Piece& piece, Index first) const {
  std::vector<double> weight, t(piece.t.size());
  for (std::size_t i = 0; i < piece.count; ++i) {
    weight.insert(weight.end(), piece.per, piece.entries[i]->rise[static_cast<std::size_t>(first)].slope(0.0));
  }
  piece.forms->solve(weight, t);
  return t;
}

// A proof counts only where halving comes that far, too.
bool OwnVarianceEvidence::is_quickly_proved(Piece& piece, Index first, double level) {
  piece.t = first_move(piece, first);
  constexpr double patience = 0.125;
  return is_proved(piece, level + 2.0 * precision * (1.0 + std::abs(level)), patience);
}

bool OwnVarianceEvidence::is_low_somewhere(const Situation& now, Piece& piece, Index first, double level) {
  const double below = level - sure * (1.0 + std::abs(level));
  last_known_ = inf;
  if (recall(now, piece)) last_known_ = log_evidence(piece);
  if (last_known_ < below) return true;
  piece.t = first_move(piece, first);
  const double moved = log_evidence(piece);
  if (moved < last_known_) {
    last_known_ = moved;
    keep(piece, piece.forms->lam());
  }
  if (moved < below) return true;
  // (descents from several places take time, and lower it by little)
  constexpr double within_reach = 4.0;
  if (!has_many_arms() && last_known_ < level + within_reach) last_known_ = find_low(piece, first);
  return last_known_ < below;
}

// With many arms proofs are short, and what forbids a stop is often that they do not come to an end: then it is known only by
// trying.
bool OwnVarianceEvidence::is_known_below(const Situation& now, const Witness& w, double level, Index first) {
  if (has_many_arms()) return is_below(now, w, level, first);
  Piece piece = this->piece(now, w);
  if (is_free(now, piece)) return (last_known_ = log_evidence(piece)) < level;
  make_forms(now, piece);
  return is_low_somewhere(now, piece, first, level);
}

bool OwnVarianceEvidence::is_below(const Situation& now, const Witness& w, double level, Index first) {
  Piece piece = this->piece(now, w);
  if (is_free(now, piece)) return log_evidence(piece) < level;
  make_forms(now, piece);
  if (is_low_somewhere(now, piece, first, level)) return true;
  if (is_quickly_proved(piece, first, level)) return false;
  return halve(piece, first, level, level) < level;
}

double OwnVarianceEvidence::against(const Situation& now, const Witness& w, double level, Index first) {
  Piece piece = this->piece(now, w);
  ++work_;
  if (is_free(now, piece)) return log_evidence(piece);
  make_forms(now, piece);
  const bool reached = level < inf && is_quickly_proved(piece, first, level);
  const double found = reached ? level : halve(piece, first, level, -inf);
  const long long half = std::max<Index>(model_->n_features(), 2) / 2;
  work_ += piece.forms->solved() * half * half * half;
  return found;
}

Index OwnVarianceEvidence::best_scale(const Situation& now, const Witness& w, Index scale) {
  Piece piece = this->piece(now, w);
  if (!is_free(now, piece)) {
    make_forms(now, piece);
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
