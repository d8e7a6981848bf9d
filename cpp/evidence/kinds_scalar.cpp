// Samples that are numbers.
#include "evidence/kinds_bottleneck.hpp"
#include "evidence/one_sided.hpp"
#include "evidence/scalar.hpp"

namespace linkarms {

template std::unique_ptr<AnytimeEvidence> make_bottleneck<OneSidedEvidence>(const Model&, const std::vector<double>&, double,
                                                                            double);
template std::unique_ptr<AnytimeEvidence> make_bottleneck<ScalarEvidence>(const Model&, const std::vector<double>&, double,
                                                                          double);

}  // namespace linkarms
