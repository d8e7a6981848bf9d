#include "evidence/anytime.hpp"

#include <stdexcept>

#include "evidence/aligned.hpp"
#include "evidence/bottleneck.hpp"
#include "evidence/centred_variance.hpp"
#include "evidence/one_sided.hpp"
#include "evidence/own_variance.hpp"
#include "evidence/scalar.hpp"
#include "evidence/shared_variance.hpp"
#include "evidence/solved.hpp"
#include "evidence/threshold.hpp"
#include "evidence/unknown.hpp"
#include "evidence/variance_goals.hpp"

namespace linkarms {

namespace {

std::unique_ptr<AnytimeEvidence> make_threshold_evidence(const Model& model, const Task& task, const std::vector<double>& grid,
                                                         double discount) {
  switch (model.kind()) {
    case Kind::isotropic:
      if (model.has_range()) return std::make_unique<ThresholdEvidence<ScalarThreshold>>(model, task, grid, discount);
      return std::make_unique<ThresholdEvidence<IsotropicThreshold>>(model, task, grid, discount);
    case Kind::covariance:
    case Kind::vector:
      return std::make_unique<ThresholdEvidence<SolvedThreshold>>(model, task, grid, discount);
    case Kind::scalar:
      return std::make_unique<ThresholdEvidence<ScalarThreshold>>(model, task, grid, discount);
    case Kind::unknown_variance:
      if (model.variances() == Variances::separate || model.variances() == Variances::shared) {
        return std::make_unique<ThresholdEvidence<VarianceThreshold>>(model, task, grid, discount);
      }
      return std::make_unique<ThresholdEvidence<OwnVarianceThreshold>>(model, task, grid, discount);
  }
  throw std::logic_error("a kind of model without evidence");
}

// Distances between clusters come stretched by the tolerance: where only |q| - |p| counts, nothing else changes.
std::unique_ptr<AnytimeEvidence> make_tolerant_evidence(const Model& model, double tolerance, const std::vector<double>& grid,
                                                        double discount) {
  switch (model.kind()) {
    case Kind::isotropic:
      if (model.has_range()) return std::make_unique<BottleneckEvidence<ScalarEvidence>>(model, grid, discount, tolerance);
      return std::make_unique<BottleneckEvidence<AveragedEvidence>>(model, grid, discount, tolerance);
    case Kind::covariance:
      return std::make_unique<BottleneckEvidence<AveragedEvidence>>(model, grid, discount, tolerance);
    case Kind::vector:
      return std::make_unique<BottleneckEvidence<SolvedEvidence>>(model, grid, discount, tolerance);
    case Kind::scalar:
      return std::make_unique<BottleneckEvidence<ScalarEvidence>>(model, grid, discount, tolerance);
    case Kind::unknown_variance:
      if (model.variances() == Variances::separate) {
        return std::make_unique<BottleneckEvidence<CentredVarianceEvidence>>(model, grid, discount);
      }
      if (model.variances() == Variances::shared) {
        return std::make_unique<BottleneckEvidence<SharedVarianceEvidence>>(model, grid, discount, tolerance);
      }
      return std::make_unique<BottleneckEvidence<TolerantVarianceEvidence>>(model, grid, discount, tolerance);
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
      if (version >= 2 && model.has_range()) return std::make_unique<BottleneckEvidence<ScalarEvidence>>(model, grid, discount);
      if (evidence_is_aligned(model, version))
        return std::make_unique<BottleneckEvidence<AlignedEvidence>>(model, grid, discount);
      if (version >= 2) return std::make_unique<BottleneckEvidence<AveragedEvidence>>(model, grid, discount);
      return std::make_unique<BottleneckEvidence<IsotropicEvidence>>(model, grid, discount);
    case Kind::covariance:
      if (evidence_is_aligned(model, version)) {
        return std::make_unique<BottleneckEvidence<AlignedEvidence>>(model, grid, discount);
      }
      if (version >= 2) return std::make_unique<BottleneckEvidence<AveragedEvidence>>(model, grid, discount);
      return std::make_unique<BottleneckEvidence<SolvedEvidence>>(model, grid, discount);
    case Kind::vector:
      return std::make_unique<BottleneckEvidence<SolvedEvidence>>(model, grid, discount);
    case Kind::scalar:
      if (evidence_is_one_sided(model, version)) {
        return std::make_unique<BottleneckEvidence<OneSidedEvidence>>(model, grid, discount);
      }
      return std::make_unique<BottleneckEvidence<ScalarEvidence>>(model, grid, discount);
    case Kind::unknown_variance:
      if (version >= 2 && model.variances() == Variances::shared) {
        return std::make_unique<BottleneckEvidence<SharedVarianceEvidence>>(model, grid, discount);
      }
      if (version >= 2 && model.variances() == Variances::separate && model.n_arms() > most_proved_arms) {
        return std::make_unique<BottleneckEvidence<CentredVarianceEvidence>>(model, grid, discount);
      }
      if (version >= 2) return std::make_unique<BottleneckEvidence<OwnVarianceEvidence>>(model, grid, discount);
      if (model.variances() != Variances::separate && model.variances() != Variances::shared) {
        throw std::invalid_argument(
            "version 1 of the anytime rule has no evidence for a variance per coordinate or a covariance; use version 2");
      }
      return std::make_unique<BottleneckEvidence<UnknownVarianceEvidence>>(model, grid, discount);
  }
  throw std::logic_error("a kind of model without evidence");
}

}  // namespace linkarms
