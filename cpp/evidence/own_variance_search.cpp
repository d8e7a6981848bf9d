// Where the evidence of arms that each have a variance of their own is low, and proofs that it is nowhere low.
#include <cmath>

#include "evidence/own_variance.hpp"

namespace linkarms {
namespace {

/// Forms of two arms whose weights are searched one by one; of more, only the weight of an arm against the other.
constexpr std::size_t most_turned = 8;
/// How near halving comes to the infimum.
constexpr double precision = 1e-3;

/// All samples of the arms of a piece.
[[nodiscard]] double samples_of(const auto& piece) {
  double total = 0.0;
  for (std::size_t i = 0; i < piece.count; ++i) total += static_cast<double>(piece.entries[i]->count);
  return total;
}

}  // namespace

double OwnVarianceEvidence::evaluate(Piece& piece, const Matrix& lam) const {
  for (std::size_t i = 0; i < piece.count; ++i) {
    piece.entries[i]->shape.forms(piece.now.samples.mean(piece.arms[i]), lam.row(static_cast<Index>(i)),
                                  std::span(piece.t).subspan(i * piece.per, piece.per));
  }
  if (shapes_ == Shapes::round) {
    make_forms(piece);
    piece.forms->renew(piece.t);
  }
  return log_evidence(piece);
}

void OwnVarianceEvidence::keep(const Piece& piece, const Matrix& lam, double value) {
  Known& known = *piece.known;
  if (known.lam.rows() > 0 && !(value < known.value)) return;
  known.lam = lam;
  known.value = value;
  known.stale.fill(true);
}

void OwnVarianceEvidence::refresh(Piece& piece) const {
  Known& known = *piece.known;
  if (known.value < inf || known.lam.rows() == 0) return;
  if (shapes_ == Shapes::round) {  // what the constraint asks now changes all of them
    known.value = evaluate(piece, known.lam);
    return;
  }
  known.terms.resize(piece.count * grid_.size());
  for (std::size_t i = 0; i < piece.count; ++i) {
    if (!known.stale[i]) continue;
    known.stale[i] = false;
    piece.entries[i]->shape.forms(piece.now.samples.mean(piece.arms[i]), known.lam.row(static_cast<Index>(i)),
                                  std::span(piece.t).subspan(i * piece.per, piece.per));
    for (std::size_t j = 0; j < grid_.size(); ++j) known.terms[i * grid_.size() + j] = arm_evidence(piece, i, j);
  }
  known.value = log_average(known.terms, piece.count);
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
  keep(piece, best_lam, best);
  piece.known->samples_then = samples_of(piece);
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
  const bool reached = linkarms::is_reached(*piece.forms, caps, start, propose, limits_ ? 4.0 * patience : patience);
  if (!reached) {
    const Matrix refuted = piece.forms->lam();
    keep(piece, refuted, evaluate(piece, refuted));
  }
  return reached;
}

// By halving between what holds everywhere and the low point. The order of the questions does not depend on the level,
// which only ends them early: whether a level is reached does not depend on how it is asked. No proof can be above what is
// known: `known` only saves time.
double OwnVarianceEvidence::halve(Piece& piece, Index first, double enough, double too_little, Use use) {
  std::ranges::fill(piece.t, 0.0);
  double low = log_evidence(piece);  // no rise is negative
  double high = find_low(piece, first);
  const Index best = largest_scale(piece, first);  // what is found must not depend on the c that it began with
  if (best != first) high = find_low(piece, best);
  const std::vector<double> at = piece.t, near = first_move(piece, best);
  const auto is_proved_from = [&](const std::vector<double>& t, double level) {
    if (use == Use::known && piece.known->value < level - sure * (1.0 + std::abs(level))) return false;
    piece.t = t;
    return is_proved(piece, level, 1.0);
  };
  while (high - low > precision * (1.0 + std::abs(high)) && low < enough && high >= too_little) {
    const double middle = 0.5 * (low + high);
    (is_proved_from(at, middle) || is_proved_from(near, middle) ? low : high) = middle;
  }
  return low;
}

double OwnVarianceEvidence::infimum(Piece& piece, Index first, double enough, double too_little, Use use) {
  if (!piece.sectors) return halve(piece, first, enough, too_little, use);
  std::ranges::fill(piece.t, 0.0);
  const double least = log_evidence(piece);  // no rise is negative
  return std::max(least, piece.sectors->infimum(enough, too_little, [&](const Matrix& lam) {
    const double value = evaluate(piece, lam);
    keep(piece, lam, value);
    return value;
  }));
}

std::vector<double> OwnVarianceEvidence::first_move(Piece& piece, Index first) const {
  std::vector<double> weight, t(piece.t.size());
  for (std::size_t i = 0; i < piece.count; ++i) {
    weight.insert(weight.end(), piece.per, piece.entries[i]->rise[static_cast<std::size_t>(first)].slope(0.0));
  }
  piece.forms->solve(weight, t);
  return t;
}

// A proof counts only where halving, or the search by directions, comes that far, too. With one form per arm that search is as
// short; with one per coordinate it takes a hundred times as long as the proof that most pieces have, and a failed proof is lost.
bool OwnVarianceEvidence::is_quickly_proved(Piece& piece, Index first, double level) {
  if (piece.sectors && piece.per == 1) return false;
  piece.t = first_move(piece, first);
  const double patience = piece.sectors ? 0.01 : 0.125;
  return is_proved(piece, level + 2.0 * precision * (1.0 + std::abs(level)), patience);
}

// The shares of the parts change with t, so that log E lies above its tangents in some places: where all of a step leads up,
// a part of it may not.
void OwnVarianceEvidence::go_down(Piece& piece) {
  constexpr int most_steps = 20;
  double value = log_evidence(piece);
  std::vector<double> t = piece.t, log_weight, next(t.size()), weight(t.size());
  double step = 1.0;
  for (int turn = 0; turn < most_steps && step > 0.1; ++turn) {
    piece.t = t;
    const std::vector<AveragedRise> rises = goal_at(piece, 0.0).rises;
    double least = 0.0;  // of the weights: a form may rise no more
    for (std::size_t k = 0; k < t.size(); ++k) least = std::max(least, 1e-9 * rises[k].slope(0.0));
    for (std::size_t k = 0; k < t.size(); ++k) next[k] = std::log(std::max(rises[k].slope(t[k]), least));
    if (log_weight.empty()) log_weight = next;
    for (std::size_t k = 0; k < t.size(); ++k) {
      next[k] = log_weight[k] + step * (next[k] - log_weight[k]);
      weight[k] = std::exp(next[k]);
    }
    piece.forms->solve(weight, piece.t);
    const double found = log_evidence(piece);
    if (found < value - 1e-4) {
      value = found;
      t = piece.t;
      log_weight = next;
      keep(piece, piece.forms->lam(), value);
    } else if (turn == 0) {
      return;
    } else {
      step *= 0.5;
    }
  }
}

bool OwnVarianceEvidence::goes_below(Piece& piece, Index first, double level) {
  make_forms(piece);
  Known& known = *piece.known;
  if (known.value < inf && !has_many_arms()) {
    static_cast<void>(evaluate(piece, known.lam));
    go_down(piece);
    if (known.value < level) return true;
  }
  piece.t = first_move(piece, first);
  keep(piece, piece.forms->lam(), log_evidence(piece));
  if (!has_many_arms()) go_down(piece);
  return known.value < level;
}

bool OwnVarianceEvidence::is_low_somewhere(Piece& piece, Index first, double level) {
  const double below = level - sure * (1.0 + std::abs(level));
  Known& known = *piece.known;
  refresh(piece);
  last_known_ = known.value;
  if (last_known_ < below) return true;
  if (known.searched) return false;
  // (descents take time, and lower it by little)
  constexpr double within_reach = 4.0;
  if (known.value == inf || has_many_arms() || known.value < level + within_reach) {
    known.searched = true;
    if (goes_below(piece, first, below)) return true;
    // what was low before mostly is where it is lowest; to look everywhere takes longer
    constexpr double many_more = 1.1;
    if (!has_many_arms() && !piece.sectors && known.value < level + within_reach &&
        samples_of(piece) > many_more * known.samples_then)
      find_low(piece, first);
  }
  last_known_ = known.value;
  return last_known_ < below;
}

// There may be a low place for every choice of the arms that move.
void OwnVarianceEvidence::go_down_everywhere(Piece& piece, Index first) {
  const std::vector<double> start = first_move(piece, first);
  std::vector<double> weight(start.size());
  for (std::size_t movers = 1; movers + 1 < (std::size_t{1} << piece.count); ++movers) {
    for (std::size_t i = 0; i < piece.count; ++i) {
      const double slope = piece.entries[i]->rise[static_cast<std::size_t>(first)].slope(0.0);
      for (std::size_t k = 0; k < piece.per; ++k) weight[i * piece.per + k] = (movers >> i & 1) != 0 ? 0.03 * slope : slope;
    }
    piece.forms->solve(weight, piece.t);
    keep(piece, piece.forms->lam(), log_evidence(piece));
    go_down(piece);
  }
}

// Where there is no short proof, it pays to look for what forbids one before a long one is tried.
bool OwnVarianceEvidence::is_reached(Piece& piece, Index first, double level) {
  const double below = level - sure * (1.0 + std::abs(level));
  make_forms(piece);
  if (is_quickly_proved(piece, first, level)) return true;
  if (piece.known->value < below) return false;
  if (!piece.sectors && !has_many_arms()) {
    // (a place that a proof could not get past is a good one to go down from)
    static_cast<void>(evaluate(piece, piece.known->lam));
    go_down(piece);
    if (piece.known->value >= below) go_down_everywhere(piece, first);
    if (piece.known->value < below) return false;
  }
  return infimum(piece, first, level, level, Use::known) >= level;
}

}  // namespace linkarms
