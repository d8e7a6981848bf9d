// What the anytime rule knows of single arms with one parameter: Gaussian, with a centred mixture, or a user's own
// with a fixed prior.
#pragma once

#include <optional>
#include <vector>

#include "evidence/tables.hpp"
#include "family/mixture.hpp"
#include "pair/number.hpp"

namespace linkarms {

/// The evidence of each arm at each c of the grid, made when it is asked for.
class ScalarArms {
 public:
  /// An arm at one c, after `count` samples.
  struct Entry {
    long long count = 0;
    double weight = 0.0, low = 0.0, price = 0.0;  ///< `low`: where the evidence is smallest
    std::optional<Mixture> mixture;
  };

  ScalarArms(const Model& model, std::vector<double> grid, double discount);

  [[nodiscard]] const Entry& entry(const Samples& samples, Index j, Index m);
  /// The arm in a problem under a linear constraint; stays valid until the arm's next sample.
  [[nodiscard]] Number number(const Samples& samples, Index j, Index m);
  /// l_m(lam) at the j-th c. Of mixtures and bets, that takes no minimiser unless the price was discounted.
  [[nodiscard]] double evidence(const Samples& samples, Index j, Index m, double lam);
  /// The price of a fixed prior asks a user's functions; mixtures wait until they are read.
  void sampled(const Samples& samples, Index m);
  void forget();

 private:
  const Model* model_;
  std::vector<double> grid_;
  double discount_;
  std::vector<ArmEvidence> kind_;
  std::vector<Entry> entries_;  ///< (J, M)
};

}  // namespace linkarms
