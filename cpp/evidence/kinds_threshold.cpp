// All kinds at a distance threshold.
#include "evidence/kinds.hpp"
#include "evidence/threshold.hpp"
#include "evidence/variance_goals.hpp"

namespace linkarms {

template <class Pairs>
std::unique_ptr<AnytimeEvidence> make_threshold(const Model& model, const Task& task, const std::vector<double>& grid,
                                                double discount) {
  return std::make_unique<ThresholdEvidence<Pairs>>(model, task, grid, discount);
}

template std::unique_ptr<AnytimeEvidence> make_threshold<IsotropicThreshold>(const Model&, const Task&,
                                                                             const std::vector<double>&, double);
template std::unique_ptr<AnytimeEvidence> make_threshold<OwnVarianceThreshold>(const Model&, const Task&,
                                                                               const std::vector<double>&, double);
template std::unique_ptr<AnytimeEvidence> make_threshold<ScalarThreshold>(const Model&, const Task&, const std::vector<double>&,
                                                                          double);
template std::unique_ptr<AnytimeEvidence> make_threshold<SolvedThreshold>(const Model&, const Task&, const std::vector<double>&,
                                                                          double);
template std::unique_ptr<AnytimeEvidence> make_threshold<VarianceThreshold>(const Model&, const Task&, const std::vector<double>&,
                                                                            double);

}  // namespace linkarms
