// What the anytime rule keeps of each arm for each c of its grid (section 5 of math.md).
//
// An arm's evidence against lam is  l(lam) = w f(lam) - p:  a weight, a cost that is zero at its minimiser,
// and a price.
//   Gaussian, of any known covariance:  w = n^2 / (n + c),  f = KL,  p = (d/2) log(1 + n/c)
//   other families of one parameter:    w = 1,  f the rise of the centred mixture above its minimum -p
//   no centred mixture of such a form (products, categories, a user's own):  w = n,  f = KL,  p the regret of
//   a fixed prior
#pragma once

#include <cmath>
#include <vector>

#include "family/samples.hpp"
#include "math/matrix.hpp"

namespace linkarms {

/// The kinds of evidence; universal inference, for arms of unknown variance, is not of the form above.
enum class ArmEvidence { gaussian, mixture, prior, universal };
[[nodiscard]] ArmEvidence arm_evidence_kind(const Model& model, Index m);
/// Whether arm m bets under this version of the anytime rule (section 6.1 of math.md): one number between known bounds.
[[nodiscard]] bool arm_bets(const Model& model, Index m, int version);
/// Whether any arm's evidence has a c under this version of the anytime rule: elsewhere a grid of one value
/// is enough.
[[nodiscard]] bool evidence_has_scale(const Model& model, int version);
/// Evidence whose infimum is proved by branch and bound is used up to so many arms: for all pieces of large clusters that takes
/// long. With more arms evidence has closed forms, where there is such evidence. Aligned evidence of thirty arms in two clusters
/// takes up to 0.4 s at the stop, of fifty 1.2 s.
inline constexpr Index most_proved_arms = 20, most_aligned_arms = 30;
/// Arms of known covariance Sigma <= v I have the aligned evidence of the variance v, which is a supermartingale for them too
/// (lemma 8 of docs/anytime-theorem.md), where the largest eigenvalue v is at most so many times the smallest: the direction
/// that counts may have the smallest, and then it takes so many times the samples.
inline constexpr double most_uneven = 1.5;
/// Whether its priors are aligned (section 10 of math.md).
[[nodiscard]] bool evidence_is_aligned(const Model& model, int version);
/// The same for arms with one parameter: gamma by the rate, Poisson, Bernoulli.
[[nodiscard]] bool evidence_is_one_sided(const Model& model, int version);

/// What n samples weigh in evidence whose prior weighs as much as c, and the price of that in d dimensions; c
/// = 0 gives n itself.
[[nodiscard]] inline double evidence_weight(double n, double c) {
  return n / (n + c) * n;
}
[[nodiscard]] inline double evidence_price(double n, double c, Index d) {
  return 0.5 * d * std::log1p(n / c);
}

/// Weights, spreads (variance over weight) and prices of arms that are Gaussian or have a fixed prior, for
/// each c. Invariant: an arm's entries are those of the count that they were made for; `refresh` makes them
/// those of the present.
class ScaleTables {
 public:
  /// Prices are divided by `discount`, which is 1 unless the rule was weakened on purpose.
  ScaleTables(const Model& model, std::vector<double> grid, double discount);

  [[nodiscard]] View grid() const { return grid_; }
  [[nodiscard]] Index size() const { return static_cast<Index>(grid_.size()); }
  [[nodiscard]] double discount() const { return discount_; }
  /// The places of the smallest and of the largest c: costs and prices both fall with c.
  [[nodiscard]] Index smallest() const { return smallest_; }
  [[nodiscard]] Index largest() const { return largest_; }

  void refresh(const Samples& samples, Index m) {
    if (filled_[static_cast<std::size_t>(m)] != samples.count(m)) fill(samples, m);
  }
  void refresh_all(const Samples& samples);
  void forget();

  [[nodiscard]] View weight(Index j) const { return weight_.row(j); }
  [[nodiscard]] View spread(Index j) const { return spread_.row(j); }
  [[nodiscard]] View price(Index j) const { return price_.row(j); }

 private:
  void fill(const Samples& samples, Index m);

  std::vector<ArmEvidence> kind_;
  std::vector<double> grid_;
  double discount_;
  Index smallest_, largest_;
  Matrix weight_, spread_, price_;  ///< (J, M)
  std::vector<long long> filled_;   ///< the arm's count when its entries were made; 0: never
};

}  // namespace linkarms
