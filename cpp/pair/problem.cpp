#include "pair/problem.hpp"

#include <stdexcept>

#include "pair/covariance.hpp"
#include "pair/scalar.hpp"
#include "pair/tolerant.hpp"
#include "pair/two_arms.hpp"
#include "pair/vector.hpp"

namespace linkarms {

std::unique_ptr<PairProblem> make_pair_problem(const Model& model, const Task& task) {
  if (task.distance) return make_two_arm_problem(model, task);
  if (task.tolerance > 0.0) return make_tolerant_problem(model, task.tolerance);
  switch (model.kind()) {
    case Kind::covariance:
      return std::make_unique<CovariancePairs>(model);
    case Kind::scalar:
      return std::make_unique<ScalarPairs>(model);
    case Kind::vector:
      return std::make_unique<VectorPairs>(model);
    case Kind::isotropic:
    case Kind::unknown_variance:
      break;
  }
  throw std::logic_error("isotropic arms have closed forms; use IsotropicPairs");
}

IsotropicPairs::IsotropicPairs(const Model& model) {
  const std::vector<double> anywhere(model.n_features(), 0.0);
  for (Index m = 0; m < model.n_arms(); ++m) variance_.push_back(model.arm(m).variance(anywhere));
}

}  // namespace linkarms
