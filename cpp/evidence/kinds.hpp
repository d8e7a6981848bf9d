// How each kind of evidence is made. The kinds are compiled in files of their own, `kinds_*.cpp`: they take long to compile.
#pragma once

#include <memory>
#include <vector>

#include "evidence/anytime.hpp"

namespace linkarms {

class AlignedEvidence;
class AveragedEvidence;
class CentredVarianceEvidence;
class IsotropicEvidence;
class OneSidedEvidence;
class OwnVarianceEvidence;
class ScalarEvidence;
class SharedVarianceEvidence;
class SolvedEvidence;
class TolerantVarianceEvidence;
class UnknownVarianceEvidence;

class IsotropicThreshold;
class OwnVarianceThreshold;
class ScalarThreshold;
class SolvedThreshold;
class VarianceThreshold;

/// Evidence about clusters. Kinds that know no tolerance ignore it.
template <class Pairs>
[[nodiscard]] std::unique_ptr<AnytimeEvidence> make_bottleneck(const Model& model, const std::vector<double>& grid,
                                                               double discount, double tolerance = 0.0);

/// Evidence about clusters at a distance threshold.
template <class Pairs>
[[nodiscard]] std::unique_ptr<AnytimeEvidence> make_threshold(const Model& model, const Task& task,
                                                              const std::vector<double>& grid, double discount);

}  // namespace linkarms
