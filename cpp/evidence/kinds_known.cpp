// Arms whose covariance is known, and vectors of exponential families.
#include "evidence/aligned.hpp"
#include "evidence/averaged.hpp"
#include "evidence/kinds_bottleneck.hpp"
#include "evidence/pairs.hpp"
#include "evidence/solved.hpp"

namespace linkarms {

template std::unique_ptr<AnytimeEvidence> make_bottleneck<AlignedEvidence>(const Model&, const std::vector<double>&, double,
                                                                           double);
template std::unique_ptr<AnytimeEvidence> make_bottleneck<AveragedEvidence>(const Model&, const std::vector<double>&, double,
                                                                            double);
template std::unique_ptr<AnytimeEvidence> make_bottleneck<IsotropicEvidence>(const Model&, const std::vector<double>&, double,
                                                                             double);
template std::unique_ptr<AnytimeEvidence> make_bottleneck<SolvedEvidence>(const Model&, const std::vector<double>&, double,
                                                                          double);

}  // namespace linkarms
