#include "evidence/anytime.hpp"

#include <stdexcept>

#include "evidence/aligned.hpp"
#include "evidence/kinds.hpp"
#include "evidence/one_sided.hpp"
#include "evidence/own_variance.hpp"

namespace linkarms {

namespace {

std::unique_ptr<AnytimeEvidence> make_threshold_evidence(const Model& model, const Task& task, const std::vector<double>& grid,
                                                         double discount) {
  switch (model.kind()) {
    case Kind::isotropic:
      if (model.has_range()) return make_threshold<ScalarThreshold>(model, task, grid, discount);
      return make_threshold<IsotropicThreshold>(model, task, grid, discount);
    case Kind::covariance:
    case Kind::vector:
      return make_threshold<SolvedThreshold>(model, task, grid, discount);
    case Kind::scalar:
      return make_threshold<ScalarThreshold>(model, task, grid, discount);
    case Kind::unknown_variance:
      if (model.variances() == Variances::separate || model.variances() == Variances::shared) {
        return make_threshold<VarianceThreshold>(model, task, grid, discount);
      }
      return make_threshold<OwnVarianceThreshold>(model, task, grid, discount);
  }
  throw std::logic_error("a kind of model without evidence");
}

// Distances between clusters come stretched by the tolerance: where only |q| - |p| counts, nothing else changes.
std::unique_ptr<AnytimeEvidence> make_tolerant_evidence(const Model& model, double tolerance, const std::vector<double>& grid,
                                                        double discount) {
  switch (model.kind()) {
    case Kind::isotropic:
      if (model.has_range()) return make_bottleneck<ScalarEvidence>(model, grid, discount, tolerance);
      return make_bottleneck<AveragedEvidence>(model, grid, discount, tolerance);
    case Kind::covariance:
      return make_bottleneck<AveragedEvidence>(model, grid, discount, tolerance);
    case Kind::vector:
      return make_bottleneck<SolvedEvidence>(model, grid, discount, tolerance);
    case Kind::scalar:
      return make_bottleneck<ScalarEvidence>(model, grid, discount, tolerance);
    case Kind::unknown_variance:
      if (model.variances() == Variances::separate) {
        return make_bottleneck<CentredVarianceEvidence>(model, grid, discount);
      }
      if (model.variances() == Variances::shared) {
        return make_bottleneck<SharedVarianceEvidence>(model, grid, discount, tolerance);
      }
      return make_bottleneck<TolerantVarianceEvidence>(model, grid, discount, tolerance);
  }
  throw std::logic_error("a kind of model without evidence");
}

}  // namespace

std::unique_ptr<AnytimeEvidence> make_anytime_evidence(const Model& model, const Task& task, const std::vector<double>& grid,
                                                       double discount, int version) {
  if ((task.distance || task.tolerance > 0.0) && version < 2) {
    throw std::invalid_argument("a distance threshold and a tolerance need version 2 of the anytime rule; this is version 1");
  }
  if (task.distance) return make_threshold_evidence(model, task, grid, discount);
  if (task.tolerance > 0.0) return make_tolerant_evidence(model, task.tolerance, grid, discount);
  switch (model.kind()) {
    case Kind::isotropic:
      if (version >= 2 && model.has_range()) return make_bottleneck<ScalarEvidence>(model, grid, discount);
      if (evidence_is_aligned(model, version)) return make_bottleneck<AlignedEvidence>(model, grid, discount);
      if (version >= 2) return make_bottleneck<AveragedEvidence>(model, grid, discount);
      return make_bottleneck<IsotropicEvidence>(model, grid, discount);
    case Kind::covariance:
      if (evidence_is_aligned(model, version)) {
        return make_bottleneck<AlignedEvidence>(model, grid, discount);
      }
      if (version >= 2) return make_bottleneck<AveragedEvidence>(model, grid, discount);
      return make_bottleneck<SolvedEvidence>(model, grid, discount);
    case Kind::vector:
      return make_bottleneck<SolvedEvidence>(model, grid, discount);
    case Kind::scalar:
      if (evidence_is_one_sided(model, version)) {
        return make_bottleneck<OneSidedEvidence>(model, grid, discount);
      }
      return make_bottleneck<ScalarEvidence>(model, grid, discount);
    case Kind::unknown_variance:
      if (version >= 2 && model.variances() == Variances::shared) {
        return make_bottleneck<SharedVarianceEvidence>(model, grid, discount);
      }
      if (version >= 2 && model.variances() == Variances::separate && model.n_arms() > most_proved_arms) {
        return make_bottleneck<CentredVarianceEvidence>(model, grid, discount);
      }
      if (version >= 2) return make_bottleneck<OwnVarianceEvidence>(model, grid, discount);
      if (model.variances() != Variances::separate && model.variances() != Variances::shared) {
        throw std::invalid_argument(
            "version 1 of the anytime rule has no evidence for a variance per coordinate or a covariance; use version 2");
      }
      return make_bottleneck<UnknownVarianceEvidence>(model, grid, discount);
  }
  throw std::logic_error("a kind of model without evidence");
}

}  // namespace linkarms
