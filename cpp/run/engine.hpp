// One run: what has been told, the rules, and everything that follows from both. Arms are numbers, samples
// are checked by the caller.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "run/cuts.hpp"
#include "run/rules.hpp"
#include "run/state.hpp"

namespace linkarms {

/// Why `Engine::run` came back.
enum class Ending {
  stopped,       ///< every level has been reached
  budget,        ///< the budget is used up
  need_samples,  ///< the next sample of `Outcome::arm` is not there
};
struct Outcome {
  Ending ending;
  Index arm = -1;
};

/// The samples that a trial draws on, and what it has found so far.
struct Trial {
  std::vector<std::span<const double>> samples;  ///< of each arm, d numbers per sample, in the order in which they are used
  std::span<std::int64_t> used;                  ///< how many of them have been
  View levels;                                   ///< log(1/delta) for each delta: one trajectory serves all
  std::span<std::int64_t> stopped_at;            ///< -1, or the number of samples at which the rule stopped
  std::span<std::int64_t> stopped_labels;        ///< (levels, M): the partition named then
  std::span<std::int64_t> stopped_counts;        ///< (levels, M), or empty: the samples of each arm then
};

class Engine {
 public:
  /// `box` has d rows of low and high to which estimates are clipped; `weights` are EBC's first ones, drawn
  /// by the caller. Throws std::invalid_argument for settings that do not fit the model.
  Engine(std::shared_ptr<const Model> model, const Task& task, SamplingRule sampling, StoppingRule stopping, Matrix box,
         std::vector<double> weights);

  /// Take in the sufficient statistic of one sample. If a user's function throws, nothing has changed.
  void observe(Index arm, View statistic);
  /// What a sample of each arm costs: one number per arm, finite and above zero; only their ratios matter. To be called before
  /// the first sample. EBC-H then divides by them, and EBC's weights times costs add up to one (section 9 of math.md).
  void set_sample_costs(std::vector<double> costs);
  /// The next arm, pending pulls counted as pulls; for rules of the core.
  [[nodiscard]] Index choose();
  /// Whether the rule stops at `level`, which is log(1/delta) or what the rule makes of it; for rules of the
  /// core. Never where the estimates have equal edges at the cut, unless there is a tolerance.
  [[nodiscard]] bool check(double level);
  /// The rule's statistic: psi, or the anytime rule's own; 0 before every arm has a sample and where the cut
  /// is ambiguous.
  [[nodiscard]] double evidence();
  /// The same, and at least `level` above the base where the rule stops at that level: under the anytime rule the statistic
  /// by itself may be less.
  [[nodiscard]] double evidence(double level);
  /// The threshold without what delta adds to it.
  [[nodiscard]] double threshold_base() const { return s_.base; }
  /// The least certain pair of pairs. Under the anytime rule that takes the whole statistic.
  [[nodiscard]] Witness witness();
  /// The cuts into any number of clusters that are certain at log(1/delta) = `level`, all of them together (section 7.2);
  /// under the anytime rule. None before every arm has a sample.
  [[nodiscard]] std::vector<CertifiedCut> cuts(double level) const;
  /// Go on with a trial until every level is reached, the budget is used up, or an arm has no more samples.
  Outcome run(const Trial& trial, std::int64_t max_samples);

  /// A copy of the whole run, memory of the searches included, and the way back to it.
  [[nodiscard]] std::shared_ptr<const RunState> save() const { return std::make_shared<const RunState>(s_); }
  void restore(const RunState& state) { s_ = state; }
  [[nodiscard]] Told told() const;
  /// Set what has been told; the rest follows. All or nothing. Throws std::invalid_argument for what cannot
  /// have been told.
  void set_told(const Told& told);
  void set_pending(std::span<const std::int64_t> pulls);
  void add_pending(Index arm, std::int64_t pulls);

  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] const SamplingRule& sampling() const { return sampling_; }
  [[nodiscard]] const StoppingRule& stopping() const { return stopping_; }
  [[nodiscard]] Index n_arms() const { return model_->n_arms(); }
  [[nodiscard]] const Task& task() const { return task_; }
  [[nodiscard]] bool ready() const { return s_.samples.every_arm_has_one(); }
  [[nodiscard]] bool ambiguous() const { return s_.partition.made() && s_.partition.ambiguous(); }
  [[nodiscard]] const Samples& samples() const { return s_.samples; }
  /// The partition of the estimates, M labels; -1 before every arm has a sample. These and the views below
  /// stay where they are.
  [[nodiscard]] std::span<const std::int64_t> labels() const { return s_.labels; }
  [[nodiscard]] std::span<const std::int64_t> pending() const { return s_.pending; }
  /// psi at the weights of the samples, its witness, lambda*, and the divergences. It is found when it is needed: many
  /// samples that are told at once need it once.
  [[nodiscard]] const NearestAlternative& nearest() {
    catch_up();
    return s_.counted;
  }
  /// Whether `nearest` has something to find, and what was found last; the weights are always those of the samples.
  [[nodiscard]] bool behind() const { return s_.behind; }
  [[nodiscard]] const NearestAlternative& last_nearest() const { return s_.counted; }
  [[nodiscard]] View ebc_weights() const { return s_.w; }
  [[nodiscard]] View ebc_weight_sum() const { return s_.w_sum; }
  /// The evidence against one pair of pairs under the anytime rule, or any value of at least `level`; only
  /// when ready.
  [[nodiscard]] double evidence_against(const Witness& w, double level);
  [[nodiscard]] bool evidence_is_below(const Witness& w, double level);
  /// ATBOC's memory; null under other rules.
  [[nodiscard]] AtbocTracker* atboc() { return s_.atboc ? &*s_.atboc : nullptr; }
  [[nodiscard]] long long costs_evaluated() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  void check_arm(Index m) const;
  [[nodiscard]] Situation now() const;
  [[nodiscard]] double prior_samples() const;
  /// The distances as searches and evidence see them.
  [[nodiscard]] const Distances& lengths() const { return s_.stretched ? *s_.stretched : s_.dist; }
  [[nodiscard]] ClusteredArms clustered_arms() const { return clustered(s_.samples.estimates(), lengths(), s_.partition); }
  [[nodiscard]] std::optional<Index> weigh(Index m);
  void bring_up_to_date(Index m);
  void find_partition(Index m);
  void step_ebc(double step);
  void weigh_evidence(Index m);
  void catch_up();
  void refresh();
  [[nodiscard]] Index choose_by_divergence();
  [[nodiscard]] Index most_moved(const NearestAlternative& found) const;
  [[nodiscard]] std::vector<std::int64_t> pulls() const;
  [[nodiscard]] bool reached(double level);
  /// Whether the partition may be named: it is unique, or a tolerance makes every one right.
  [[nodiscard]] bool decided() const { return !ambiguous() || task_.tolerance > 0.0; }

  std::shared_ptr<const Model> model_;
  Task task_;
  SamplingRule sampling_;
  StoppingRule stopping_;
  std::vector<double> sample_costs_;  ///< with mean one; empty where all are equal

  RunState s_;
};

}  // namespace linkarms
