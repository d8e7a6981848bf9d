// ATBOC: weights that maximise psi at the estimates, kept up to date from sample to sample, and tracked.
//
// Every alternative lambda is a cut: psi(w, theta) <= sum_m w_m KL(theta_m, lambda_m) for all w (section 4 of
// math.md). It stays one when the estimates theta move, with other divergences, as long as they are clustered
// in the same way. So the alternatives are kept, and priced again.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "family/model.hpp"
#include "run/nearest_alternative.hpp"

namespace linkarms {

/// An alternative: the arms that move, one of them perhaps twice, and where to (4, d).
struct MovedArms {
  std::array<Index, 4> arms{};
  Matrix points;
};

/// What ATBOC remembers, and all that a dump holds of it.
struct AtbocMemory {
  std::int64_t last = 0;               ///< samples told when the weights were last brought up to date; 0: never
  std::int64_t evaluations = 0;        ///< of psi
  double lower = 0.0, upper = 0.0;     ///< psi at the weights, and an upper bound of its maximum
  std::vector<double> weights, total;  ///< w, and the sum of all w so far
  std::vector<Index> labels;           ///< the clusters that the cuts belong to
  std::vector<MovedArms> cuts;         ///< at most `room`
  std::vector<double> mixture;         ///< `room` multipliers. Those of cuts that are gone only decide the order of pivots
};

class AtbocTracker {
 public:
  AtbocTracker(const Model& model, double gap);

  [[nodiscard]] const AtbocMemory& memory() const { return memory_; }
  /// Throws std::invalid_argument where it is not one of a run with such arms.
  void set_memory(AtbocMemory memory);

  /// The arm that is furthest behind the sum of the weights so far, or by forced exploration. `pulls` include
  /// pending ones, `told` are the samples told. The weights are brought up to date once for each number of
  /// samples told, and count for all samples since the last time; before the first time they count as equal.
  Index choose(const ClusteredArms& now, NearestAlternative& free, std::span<const std::int64_t> pulls, std::int64_t told);

 private:
  void optimise(const ClusteredArms& now, NearestAlternative& free);
  [[nodiscard]] double price(const Matrix& theta);
  void price_arm(const Matrix& theta, std::size_t cut, Index m);
  void add_cut(const Matrix& theta, const NearestAlternative& found);
  [[nodiscard]] std::size_t room() const { return 2 * memory_.weights.size() + 8; }

  const Model* model_;
  double gap_;
  AtbocMemory memory_;
  std::vector<std::vector<double>> rows_;  ///< of each cut, the divergence of each arm from `priced_`
  Matrix priced_;                          ///< NaN where the rows have to be filled again
};

}  // namespace linkarms
