// psi at changing weights: the smallest bottleneck over all clusters and inter pairs (section 2.2 of
// math.md), found incrementally.
//
// psi = min over clusters k and inter pairs (a,b) of V_k(a,b); ties go to the smallest (a, b, k). What a
// search remembers says where to begin and what need not be looked at; whatever it holds, the answer is the
// same.
#pragma once

#include <memory>
#include <optional>

#include "pair/problem.hpp"
#include "psi/clustered_arms.hpp"

namespace linkarms {

/// The answer of a search: psi, infinite where there is no alternative, and the pair of pairs that it belongs
/// to.
struct PsiAnswer {
  double value = 0.0;
  Witness witness;  ///< as found: u < v, a < b
};

/// A search for psi that remembers. One for the weights of the samples, another for any other weights (EBC's
/// own, those of pending pulls).
class Search {
 public:
  virtual ~Search() = default;

  /// psi at `weights` (of which some may be zero), and its minimiser: the rows of the witness in `lam` (which
  /// must hold the estimates) become lambda*, their entries of `kl` its divergences. `moved`: the arm whose
  /// weight, estimate and distances have changed since the last call; none if those of others may have.
  virtual PsiAnswer find(const ClusteredArms& now, View weights, std::optional<Index> moved, Matrix& lam, MutView kl) = 0;
  /// The clusters are no longer those of the last call, which were `before`.
  virtual void partition_changed(const ClusteredArms& now, const Clusters& before) = 0;
  /// Take nothing that was kept for granted: the state has been set from outside.
  virtual void forget() = 0;
  /// A copy with the same memory, for saving a run.
  [[nodiscard]] virtual std::unique_ptr<Search> clone() const = 0;
  /// Pair costs evaluated so far, and bytes held.
  [[nodiscard]] virtual long long costs_evaluated() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// The search for a model and a task: with closed forms where the arms are isotropic. Throws std::invalid_argument
/// for a task that this model has no certified solver for.
[[nodiscard]] std::unique_ptr<Search> make_search(const Model& model, const Task& task);

/// psi with nothing known beforehand; of the task only its distance and its tolerance are read. `lam` and `kl`
/// are filled whole.
PsiAnswer psi_from_scratch(const Model& model, const Task& task, const Matrix& theta, const Distances& dist, Clusters clusters,
                           View weights, Matrix& lam, MutView kl);

}  // namespace linkarms
