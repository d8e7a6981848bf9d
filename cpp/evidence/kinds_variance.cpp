// Arms whose variance or covariance is unknown.
#include "evidence/centred_variance.hpp"
#include "evidence/kinds_bottleneck.hpp"
#include "evidence/own_variance.hpp"
#include "evidence/shared_variance.hpp"
#include "evidence/unknown.hpp"
#include "evidence/variance_goals.hpp"

namespace linkarms {

template std::unique_ptr<AnytimeEvidence> make_bottleneck<CentredVarianceEvidence>(const Model&, const std::vector<double>&,
                                                                                   double, double);
template std::unique_ptr<AnytimeEvidence> make_bottleneck<OwnVarianceEvidence>(const Model&, const std::vector<double>&, double,
                                                                               double);
template std::unique_ptr<AnytimeEvidence> make_bottleneck<SharedVarianceEvidence>(const Model&, const std::vector<double>&,
                                                                                  double, double);
template std::unique_ptr<AnytimeEvidence> make_bottleneck<TolerantVarianceEvidence>(const Model&, const std::vector<double>&,
                                                                                    double, double);
template std::unique_ptr<AnytimeEvidence> make_bottleneck<UnknownVarianceEvidence>(const Model&, const std::vector<double>&,
                                                                                   double, double);

}  // namespace linkarms
