#include "evidence/anytime.hpp"

#include <stdexcept>

#include "evidence/aligned.hpp"
#include "evidence/bottleneck.hpp"
#include "evidence/centred_variance.hpp"
#include "evidence/scalar.hpp"
#include "evidence/solved.hpp"
#include "evidence/unknown.hpp"

namespace linkarms {

std::unique_ptr<AnytimeEvidence> make_anytime_evidence(const Model& model, std::vector<double> grid, double discount,
                                                       int version) {
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
