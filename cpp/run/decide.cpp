// What a run decides: which arm next, whether to stop; and whole trials of such steps.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "evidence/tables.hpp"
#include "math/constants.hpp"
#include "run/engine.hpp"
#include "run/lucb.hpp"

namespace linkarms {

std::vector<std::int64_t> Engine::pulls() const {
  std::vector<std::int64_t> n(s_.pending);
  for (Index m = 0; m < n_arms(); ++m) n[m] += s_.samples.count(m);
  return n;
}

/// The arm with the largest KL, or KL per cost; where every KL is zero (the estimates are on the edge to another partition)
/// the least sampled arm of the witness. Ties break by index.
Index Engine::most_moved(const NearestAlternative& found) const {
  std::vector<double> priced;
  View kl = found.kl();
  if (!sample_costs_.empty()) {
    priced.assign(kl.begin(), kl.end());
    for (Index m = 0; m < n_arms(); ++m) priced[m] /= sample_costs_[m];
    kl = priced;
  }
  const auto largest = std::ranges::max_element(kl);
  const Witness& w = found.witness();
  if (*largest > 0.0 || !w.exists()) return static_cast<Index>(largest - kl.begin());
  const auto pulls = [&](Index m) { return s_.samples.count(m) + s_.pending[m]; };
  const auto arms = w.arms();
  Index best = *arms.begin();
  for (const Index m : arms) {
    if (pulls(m) < pulls(best) || (pulls(m) == pulls(best) && m < best)) best = m;
  }
  return best;
}

/// EBC-H's arm. Where pulls are pending psi is taken as if they had been made, without moving the estimates.
Index Engine::choose_by_divergence() {
  if (std::ranges::all_of(s_.pending, [](auto n) { return n == 0; })) return most_moved(nearest());
  const double c = prior_samples();
  const bool same_samples = s_.free_told == s_.samples.total();
  std::vector<double> weights;
  for (Index m = 0; m < n_arms(); ++m) {
    const auto n = static_cast<double>(s_.samples.count(m) + s_.pending[m]);
    weights.push_back(evidence_weight(n, c) * s_.samples.precision(m));
  }
  // asked again after one more pull is pending: only that arm's weight has changed
  const MutView last = s_.free.weights();
  std::optional<Index> moved;
  int changed = 0;
  for (Index m = 0; m < n_arms(); ++m) {
    if (weights[m] == last[m]) continue;
    moved = m;
    ++changed;
  }
  if (same_samples && changed == 0) return most_moved(s_.free);
  if (!same_samples || changed > 1) moved.reset();
  std::ranges::copy(weights, last.begin());
  s_.free_told = -1;  // until the search has come to an end
  s_.free.find(clustered_arms(), moved);
  s_.free_told = s_.samples.total();
  return most_moved(s_.free);
}

// Forced exploration first, then the rule. Ties break by index. Pending pulls count as pulls.
Index Engine::choose() {
  if (std::holds_alternative<std::monostate>(sampling_)) throw std::logic_error("this rule chooses in Python");
  const Index n = n_arms();
  Index fewest = 0;
  std::int64_t least = s_.samples.count(0) + s_.pending[0], total = 0;
  for (Index m = 0; m < n; ++m) {
    const std::int64_t pulls = s_.samples.count(m) + s_.pending[m];
    total += pulls;
    if (pulls < least) {
      least = pulls;
      fewest = m;
    }
  }
  if (least > 0 && ready()) {  // these explore in their own ways
    if (const auto* rule = std::get_if<Lucbboc>(&sampling_)) {
      return lucb_choice(s_.dist, s_.partition.clusters(), pulls(), model_->n_features(), rule->level);
    }
    if (s_.atboc) {
      s_.free_told = -1;
      return s_.atboc->choose(clustered_arms(), s_.free, pulls(), s_.samples.total());
    }
  }
  if (least == 0 || static_cast<double>(least) < std::sqrt(static_cast<double>(total) / n) ||
      (!task_.distance && task_.n_clusters == n) || std::holds_alternative<RoundRobin>(sampling_)) {
    return fewest;
  }
  if (std::holds_alternative<Ebc>(sampling_)) {
    const auto t = static_cast<double>(std::max<std::int64_t>(s_.samples.total(), 1));
    Index best = 0;
    double lowest = inf, spent = static_cast<double>(total);
    if (!sample_costs_.empty()) {
      spent = 0.0;
      for (Index m = 0; m < n; ++m) spent += sample_costs_[m] * static_cast<double>(s_.samples.count(m) + s_.pending[m]);
    }
    for (Index m = 0; m < n; ++m) {
      const double x = static_cast<double>(s_.samples.count(m) + s_.pending[m]) / spent - s_.w_sum[m] / t;
      if (x < lowest) {
        lowest = x;
        best = m;
      }
    }
    return best;
  }
  return ready() ? choose_by_divergence() : fewest;
}

/// Whether the rule's statistic has reached `level` above its base. Only when ready and where the cut is not
/// ambiguous.
bool Engine::reached(double level) {
  if (!s_.anytime) return std::isfinite(nearest().psi()) && s_.counted.psi() - s_.base >= level;
  if (s_.statistic && *s_.statistic - s_.base >= level) return true;
  if (s_.anytime->is_still_blocked(now(), s_.base + level)) return false;
  catch_up();
  return !s_.anytime->is_blocked(now(), s_.base + level);
}

bool Engine::check(double level) {
  if (std::holds_alternative<std::monostate>(stopping_)) throw std::logic_error("this rule stops in Python");
  return ready() && decided() && reached(level);
}

double Engine::evidence() {
  if (!ready() || !decided()) return 0.0;
  if (!s_.anytime) return nearest().psi();
  if (!s_.statistic) {
    catch_up();
    s_.statistic = s_.anytime->statistic(now());
    s_.least_certain = s_.anytime->blocker();
  }
  return *s_.statistic;
}

double Engine::evidence(double level) {
  const double found = evidence();
  return s_.anytime && found - s_.base < level && check(level) ? s_.base + level : found;
}

Witness Engine::witness() {
  if (!s_.anytime || !ready() || !decided()) return nearest().witness();
  static_cast<void>(evidence());
  return s_.least_certain;
}

std::vector<CertifiedCut> Engine::cuts(double level) const {
  const auto* rule = std::get_if<AnytimeStop>(&stopping_);
  if (!rule) throw std::logic_error("only the anytime rule certifies cuts");
  if (task_.distance || task_.tolerance > 0.0) {
    throw std::logic_error("cuts are of runs without a distance threshold and without a tolerance");
  }
  if (!ready() || n_arms() < 3) return {};
  AnytimeStop asked(*rule);
  asked.question.promise = Promise::every_cut;
  const auto evidence = s_.anytime->clone();
  const double base = AnytimeBase(asked, *evidence, n_arms(), task_)(n_arms());
  return certified_cuts(now(), *evidence, base + level);
}

double Engine::evidence_against(const Witness& w, double level) {
  if (!s_.anytime || !ready())
    throw std::logic_error("only the anytime rule has evidence against pairs, once every arm has a sample");
  return s_.anytime->against(now(), w, level);
}

bool Engine::evidence_is_below(const Witness& w, double level) {
  if (!s_.anytime || !ready())
    throw std::logic_error("only the anytime rule has evidence against pairs, once every arm has a sample");
  return s_.anytime->is_below(now(), w, level);
}

Outcome Engine::run(const Trial& trial, std::int64_t max_samples) {
  const auto d = static_cast<std::size_t>(model_->n_features()), n = static_cast<std::size_t>(n_arms());
  const std::size_t n_levels = trial.levels.size();
  if (trial.samples.size() != n || trial.used.size() != n || trial.stopped_at.size() != n_levels ||
      trial.stopped_labels.size() != n_levels * n ||
      (!trial.stopped_counts.empty() && trial.stopped_counts.size() != n_levels * n)) {
    throw std::invalid_argument("the arrays of a trial do not fit its arms and levels");
  }
  for (std::size_t m = 0; m < n; ++m) {
    if (trial.used[m] < 0) throw std::invalid_argument("used cannot be negative");
  }
  std::vector<std::size_t> waiting;  // levels that have not been reached, the lowest first
  for (std::size_t j = 0; j < n_levels; ++j) {
    if (trial.stopped_at[j] < 0) waiting.push_back(j);
  }
  std::ranges::stable_sort(waiting, {}, [&](std::size_t j) { return trial.levels[j]; });
  auto next = waiting.begin();
  while (true) {
    // a candidate below one level is below all that are higher
    while (next != waiting.end() && check(trial.levels[*next])) {
      trial.stopped_at[*next] = s_.samples.total();
      std::ranges::copy(s_.labels, trial.stopped_labels.begin() + static_cast<std::ptrdiff_t>(*next * n));
      for (std::size_t m = 0; m < n && !trial.stopped_counts.empty(); ++m) {
        trial.stopped_counts[*next * n + m] = s_.samples.count(static_cast<Index>(m));
      }
      ++next;
    }
    if (next == waiting.end()) return {Ending::stopped};
    if (s_.samples.total() >= max_samples) return {Ending::budget};
    const Index m = choose();
    const auto used = static_cast<std::size_t>(trial.used[m]);
    if ((used + 1) * d > trial.samples[m].size()) return {Ending::need_samples, m};
    observe(m, trial.samples[m].subspan(used * d, d));
    ++trial.used[m];
  }
}

}  // namespace linkarms
