#include "run/engine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "evidence/tables.hpp"
#include "linkage/stretched.hpp"
#include "math/simplex.hpp"
#include "run/threshold.hpp"

namespace linkarms {
namespace {

[[nodiscard]] std::size_t count_of(const Model& model) {
  return static_cast<std::size_t>(model.n_arms());
}

[[nodiscard]] Task checked(const Task& task, const Model& model) {
  task.check(model.n_arms());
  return task;
}

/// Under version 2 of the anytime rule bounded arms bet (section 6.1 of math.md), and arms of unknown variance are chosen
/// with more caution. (Means 0, 0.4, 5, 5.3 from 2 to 5: three samples of 66 fewer.)
[[nodiscard]] SampleUse use_of_samples(const StoppingRule& stopping) {
  const auto* rule = std::get_if<AnytimeStop>(&stopping);
  if (!rule || rule->version < 2) return {};
  return {.knots = true, .caution = 5.0};
}

}  // namespace

RunState::RunState(const Model& model, const Task& task, const SamplingRule& sampling, const StoppingRule& stopping, Matrix box)
    : samples(model, std::move(box), use_of_samples(stopping)),
      pending(count_of(model)),
      labels(count_of(model), -1),
      dist(model.n_arms()),
      partition(model.n_arms(), task),
      counted(model, task),
      free(model, task),
      w(count_of(model)),
      w_sum(count_of(model)),
      penalty(count_of(model)) {
  if (!task.distance && task.tolerance > 0.0) stretched.emplace(model.n_arms());
  if (const auto* rule = std::get_if<Atboc>(&sampling)) atboc.emplace(model, rule->gap);
  if (const auto* rule = std::get_if<AnytimeStop>(&stopping)) {
    anytime = Cloned(make_anytime_evidence(model, task, rule->grid, rule->discount, rule->version));
    anytime_base.emplace(*rule, *anytime, model.n_arms(), task);
  }
}

Engine::Engine(std::shared_ptr<const Model> model, const Task& task, SamplingRule sampling, StoppingRule stopping, Matrix box,
               std::vector<double> weights)
    : model_(std::move(model)),
      task_(checked(task, *model_)),
      sampling_(sampling),
      stopping_(std::move(stopping)),
      s_(*model_, task_, sampling_, stopping_, std::move(box)) {
  if (!task_.is_fixed() && (std::holds_alternative<Lucbboc>(sampling_) || std::holds_alternative<Atboc>(sampling_))) {
    throw std::invalid_argument("ATBOC and LUCBBOC need n_clusters and no tolerance; use EBC-H, say");
  }
  if (weights.size() != count_of(*model_)) throw std::invalid_argument("weights must hold one number per arm");
  s_.w = std::move(weights);
}

void Engine::set_sample_costs(std::vector<double> costs) {
  if (costs.size() != count_of(*model_) || !std::ranges::all_of(costs, [](double k) { return k > 0.0 && std::isfinite(k); })) {
    throw std::invalid_argument("costs must be one number above zero per arm");
  }
  if (s_.samples.total() > 0) throw std::invalid_argument("costs cannot change once there are samples");
  // the steps of EBC should not depend on the unit
  const double largest = std::ranges::max(costs);
  double mean = 0.0;
  for (double& k : costs) mean += (k /= largest) / static_cast<double>(costs.size());
  for (double& k : costs) k /= mean;
  if (std::ranges::min(costs) == 0.0) throw std::invalid_argument("costs differ by more than double precision holds");
  sample_costs_ = std::move(costs);
  double spent = 0.0;
  for (Index m = 0; m < n_arms(); ++m) spent += sample_costs_[m] * s_.w[m];
  if (spent > 0.0) {
    for (double& w : s_.w) w /= spent;
  }
}

void Engine::check_arm(Index m) const {
  if (m < 0 || m >= n_arms()) {
    throw std::invalid_argument("arm " + std::to_string(m) + " is out of range; there are " + std::to_string(n_arms()) + " arms");
  }
}

Situation Engine::now() const {
  return {s_.samples, lengths(), s_.partition, s_.counted.lam(), s_.counted.witness()};
}

/// The c by which arms are chosen: that of the anytime rule's scale, 0 under other rules.
double Engine::prior_samples() const {
  const auto* rule = std::get_if<AnytimeStop>(&stopping_);
  return rule ? rule->grid[static_cast<std::size_t>(s_.anytime->scale())] : 0.0;
}

/// Distances and penalty of arm m, whose estimate is new.
void Engine::bring_up_to_date(Index m) {
  const Matrix& theta = s_.samples.estimates();
  s_.dist.update(theta, m);
  s_.counted.follow(theta, m);
  s_.free.follow(theta, m);
  const auto n = static_cast<double>(s_.samples.count(m));
  if (const auto* rule = std::get_if<PaperStop>(&stopping_)) s_.penalty[m] = paper_penalty(*model_, m, theta.row(m), n, *rule);
  if (std::holds_alternative<BocStop>(stopping_)) s_.penalty[m] = boc_penalty(n, model_->n_features());
  if (s_.anytime) s_.anytime->sampled(now(), m);
}

/// Tree and partition after a sample of arm m; from scratch if there is none yet.
void Engine::find_partition(Index m) {
  if (!ready()) return;
  const auto stretch_all = [&] {
    if (s_.stretched) stretch(s_.dist, s_.partition.clusters(), task_.tolerance, *s_.stretched);
  };
  if (!s_.partition.made()) {
    s_.partition.make(s_.dist);
    stretch_all();
  } else if (s_.partition.update(s_.dist, m)) {
    stretch_all();
    for (NearestAlternative* side : {&s_.counted, &s_.free}) {
      side->search().partition_changed(clustered_arms(), s_.partition.clusters_before());
    }
  } else {
    if (s_.stretched) stretch_row(s_.dist, s_.partition.clusters(), task_.tolerance, m, *s_.stretched);
    return;
  }
  std::ranges::copy(s_.partition.clusters().labels(), s_.labels.begin());
}

/// EBC's ascent: w(t) = projection of w(t-1) + eta g, eta = step / sqrt(t), g the gradient of psi at w(t-1)
/// (Algorithm 1, line 12).
void Engine::step_ebc(double step) {
  if (ready()) {
    std::ranges::copy(s_.w, s_.free.weights().begin());
    s_.free_told = -1;
    s_.free.find(clustered_arms(), std::nullopt);
    if (s_.free.witness().exists()) {
      const double eta = step / std::sqrt(static_cast<double>(s_.samples.total()));
      for (const Index m : s_.free.witness().arms()) s_.w[m] += eta * s_.free.kl()[m];
    }
    project_simplex(s_.w, sample_costs_);
  }
  for (Index m = 0; m < n_arms(); ++m) s_.w_sum[m] += s_.w[m];
}

/// The weights of the samples after one of arm m; m if no other arm's have changed.
std::optional<Index> Engine::weigh(Index m) {
  const double c = prior_samples();
  const auto weight = [&](Index j) {
    return evidence_weight(static_cast<double>(s_.samples.count(j)), c) * s_.samples.precision(j);
  };
  const MutView weights = s_.counted.weights();
  if (c != s_.weighed_with) {
    for (Index j = 0; j < n_arms(); ++j) weights[j] = weight(j);
    s_.weighed_with = c;
    return std::nullopt;
  }
  weights[m] = weight(m);
  return m;
}

/// The threshold's base and the weights after a sample of arm m. psi follows when it is needed; at once where a user's function
/// may throw on the way, since a sample that is refused must leave no trace.
void Engine::weigh_evidence(Index m) {
  if (!ready()) return;
  s_.base = s_.anytime_base ? (*s_.anytime_base)(s_.partition.clusters()) : 0.0;
  for (const double part : s_.penalty) s_.base += part;
  s_.statistic.reset();
  const std::optional<Index> moved = weigh(m);
  s_.moved = s_.behind && s_.moved != moved ? std::nullopt : moved;
  s_.behind = true;
  if (model_->has_user_family()) catch_up();
}

/// Z(t) = psi(N, estimates), lambda* and the witness.
void Engine::catch_up() {
  if (!s_.behind) return;
  s_.counted.find(clustered_arms(), s_.moved);
  s_.behind = false;
}

void Engine::observe(Index m, View statistic) {
  check_arm(m);
  if (statistic.size() != static_cast<std::size_t>(model_->n_features())) {
    throw std::invalid_argument("a sample has " + std::to_string(statistic.size()) + " numbers; it needs " +
                                std::to_string(model_->n_features()));
  }
  std::shared_ptr<const RunState> before;
  if (model_->has_user_family()) before = save();
  try {
    // four times at each doubling of the samples: a new scale makes everything that is kept of psi void
    const auto t = static_cast<double>(s_.samples.total());
    if (s_.anytime && ready() && std::floor(4.0 * std::log2(t)) < std::floor(4.0 * std::log2(t + 1.0))) {
      catch_up();
      s_.anytime->rescale(now());
    }
    s_.samples.add(m, statistic);
    bring_up_to_date(m);
    find_partition(m);
    if (const auto* rule = std::get_if<Ebc>(&sampling_)) step_ebc(rule->step);
    weigh_evidence(m);
  } catch (...) {
    if (before) restore(*before);
    throw;
  }
}

/// Everything that is a function of what has been told, from scratch.
void Engine::refresh() {
  const Matrix& theta = s_.samples.estimates();
  if (s_.anytime) s_.anytime->forget();
  for (NearestAlternative* side : {&s_.counted, &s_.free}) side->forget(theta);
  for (Index m = 0; m < n_arms(); ++m) {
    if (s_.samples.count(m) > 0) bring_up_to_date(m);
  }
  s_.partition = Partition(n_arms(), task_);
  std::ranges::fill(s_.labels, -1);
  s_.weighed_with = -1.0;
  s_.free_told = -1;
  s_.statistic.reset();
  s_.behind = false;
  find_partition(0);
  weigh_evidence(0);
}

Told Engine::told() const {
  const auto counts = s_.samples.counts();
  Told out{{counts.begin(), counts.end()},      s_.pending, s_.samples.means(), {}, {}, s_.w, s_.w_sum,
           s_.anytime ? s_.anytime->scale() : 0};
  if (model_->variances() != Variances::known) {
    for (Index m = 0; m < n_arms(); ++m) out.moments.push_back(s_.samples.moments(m));
  }
  for (const Knots& own : s_.samples.knots()) out.knots.emplace_back(own.all().begin(), own.all().end());
  return out;
}

void Engine::set_told(const Told& told) {
  const std::size_t n = count_of(*model_);
  const auto negative = [](std::int64_t x) { return x < 0; };
  if (told.counts.size() != n || told.pending.size() != n || told.weights.size() != n || told.weight_sum.size() != n ||
      told.means.rows() != n_arms() || told.means.cols() != model_->n_features()) {
    throw std::invalid_argument("what has been told does not have one entry per arm");
  }
  if (std::ranges::any_of(told.counts, negative) || std::ranges::any_of(told.pending, negative)) {
    throw std::invalid_argument("numbers of samples and of pending pulls cannot be negative");
  }
  if (std::ranges::any_of(told.counts, [](std::int64_t n) { return n > std::numeric_limits<Index>::max(); })) {
    throw std::invalid_argument("an arm has more than " + std::to_string(std::numeric_limits<Index>::max()) + " samples");
  }
  if (const auto* rule = std::get_if<AnytimeStop>(&stopping_);
      rule && (told.scale < 0 || static_cast<std::size_t>(told.scale) >= rule->grid.size())) {
    throw std::invalid_argument("scale=" + std::to_string(told.scale) + " is out of range; the grid has " +
                                std::to_string(rule->grid.size()) + " values");
  }
  const auto before = save();
  try {
    Samples next(s_.samples);
    next.set({told.counts.begin(), told.counts.end()}, told.means, told.moments, told.knots);
    s_.samples = std::as_const(next);  // copied, not moved: views of the arrays stay valid
    std::ranges::copy(told.pending, s_.pending.begin());
    std::ranges::copy(told.weights, s_.w.begin());
    std::ranges::copy(told.weight_sum, s_.w_sum.begin());
    if (s_.anytime) s_.anytime->set_scale(told.scale);
    refresh();
  } catch (...) {
    restore(*before);
    throw;
  }
}

void Engine::set_pending(std::span<const std::int64_t> pulls) {
  if (pulls.size() != s_.pending.size() || std::ranges::any_of(pulls, [](auto n) { return n < 0; })) {
    throw std::invalid_argument("pending pulls are one number per arm, none of them negative");
  }
  std::ranges::copy(pulls, s_.pending.begin());
}

void Engine::add_pending(Index m, std::int64_t pulls) {
  check_arm(m);
  s_.pending[m] = std::max<std::int64_t>(s_.pending[m] + pulls, 0);
}

long long Engine::costs_evaluated() const {
  return s_.counted.search().costs_evaluated() + s_.free.search().costs_evaluated();
}

std::size_t Engine::bytes() const {
  return s_.dist.bytes() + s_.counted.search().bytes() + s_.free.search().bytes() + s_.samples.means().bytes() * 4;
}

}  // namespace linkarms
