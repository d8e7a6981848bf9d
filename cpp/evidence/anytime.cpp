#include "evidence/anytime.hpp"

#include <stdexcept>

#include "evidence/aligned.hpp"
#include "evidence/bottleneck.hpp"
#include "evidence/centred_variance.hpp"
#include "evidence/scalar.hpp"
#include "evidence/solved.hpp"
#include "evidence/threshold.hpp"
#include "evidence/unknown.hpp"

namespace linkarms {

namespace {

std::unique_ptr<AnytimeEvidence> make_threshold_evidence(const Model& model, const Task& task, const std::vector<double>& grid,
                                                         double discount) {
  switch (model.kind()) {
    case Kind::isotropic:
      return std::make_unique<ThresholdEvidence<IsotropicThreshold>>(model, task, grid, discount);
    case Kind::covariance:
      return std::make_unique<ThresholdEvidence<CovarianceThreshold>>(model, task, grid, discount);
    case Kind::scalar:
      return std::make_unique<ThresholdEvidence<ScalarThreshold>>(model, task, grid, discount);
    case Kind::unknown_variance:
      return std::make_unique<ThresholdEvidence<VarianceThreshold>>(model, task, grid, discount);
    case Kind::vector:
      break;
  }
  throw std::invalid_argument("a distance threshold has no evidence for such arms; give n_clusters");
}

}  // namespace

std::unique_ptr<AnytimeEvidence> make_anytime_evidence(const Model& model, const Task& task, std::vector<double> grid,
                                                       double discount, int version) {
  if ((task.distance || task.tolerance > 0.0) && version < 2) {
    throw std::invalid_argument("a distance threshold and a tolerance need version 2 of the anytime rule; this is version 1");
  }
  if (task.distance) return make_threshold_evidence(model, task, grid, discount);
  switch (model.kind()) {
    case Kind::isotropic:
      if (evidence_is_aligned(model, version))
        return std::make_unique<BottleneckEvidence<AlignedEvidence>>(model, grid, discount);
      return std::make_unique<BottleneckEvidence<IsotropicEvidence>>(model, grid, discount);
    case Kind::covariance:
    case Kind::vector:
      return std::make_unique<BottleneckEvidence<SolvedEvidence>>(model, grid, discount);
    case Kind::scalar:
      return std::make_unique<BottleneckEvidence<ScalarEvidence>>(model, grid, discount);
    case Kind::unknown_variance:
      if (version >= 2) return std::make_unique<BottleneckEvidence<CentredVarianceEvidence>>(model, grid, discount);
      return std::make_unique<BottleneckEvidence<UnknownVarianceEvidence>>(model, grid, discount);
  }
  throw std::logic_error("a kind of model without evidence");
}

}  // namespace linkarms
