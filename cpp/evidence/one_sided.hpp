// One-sided ("aligned") evidence of arms with one parameter: gamma by the rate, Poisson, Bernoulli. Version 2 of the rule.
//
// A piece is a pair of pairs (u,v; a,b) and stands for all lambda with |lambda_u - lambda_v| >= |lambda_a - lambda_b|. With s and
// e the signs of lambda_u - lambda_v and lambda_a - lambda_b, the mixture has, for each c of the grid, two components:
//   grow,  mass (1 - eta)/J:  every arm has its alternatives where they make the inter pair longer and the intra pair
//                             shorter: v and a on the side of s and e, u and b on the other. A shared arm u = a has none where
//                             s = e.
//   cross, mass eta/J:        a and b alone, each with its alternatives on the side of the other.
// Where e is the sign that the estimates have, E is at least its grow part, and lambda obeys
//   s (lambda_u - lambda_v) - e (lambda_a - lambda_b) >= 0;
// elsewhere it is at least its cross part, and e (lambda_a - lambda_b) >= 0. So three problems with one constraint each
// (two values of s, and the crossing) bound the infimum from below: evidence/one_sided_piece.hpp.
//
// A lambda that was found below the level goes on forbidding a stop for a while, and only the terms of the arm that was
// sampled are computed again.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "evidence/one_sided_piece.hpp"
#include "evidence/pairs.hpp"

namespace linkarms {

class OneSidedEvidence {
 public:
  static constexpr EvidenceUnit unit = EvidenceUnit::piece;
  static constexpr bool averages_grid = true;
  /// Infima that are proved for one statistic, about 30 us each.
  static constexpr long long most_work = 6000;
  /// eta, the mass of the components for pairs that cross.
  static constexpr double crossing = 0.05;

  OneSidedEvidence(const Model& model, const std::vector<double>& grid, double discount);

  [[nodiscard]] double against(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level, Index first);
  /// The c whose component has the most evidence at psi's alternative.
  [[nodiscard]] Index best_scale(const Situation& now, const Witness& w, Index scale);
  /// From the `first` component alone: how far each arm can go before its own evidence pays for the others.
  [[nodiscard]] std::vector<SpreadBounds> bounds(const Situation& now, double level, Index first, const Witness& at);

  void sampled(const Situation&, Index) {}
  void forget();
  [[nodiscard]] long long work() const { return work_; }

  /// One of the problems that bound the infimum over a piece.
  struct Sector {
    std::array<Index, 4> arm{};
    std::array<double, 4> kappa{};
    std::size_t size = 0;
    double mass = 1.0;  ///< of its components together
  };
  /// The three of a witness that is oriented; `intra` and `inter` are the differences of the estimates.
  [[nodiscard]] static std::array<Sector, 3> sectors(const Witness& w, double intra, double inter);

 private:
  /// A lambda of a sector, each arm's terms there, and its count when they were computed.
  struct Point {
    Witness witness;
    Sector sector;
    bool rising = false;  ///< whether the estimate of a was above that of b: else the sectors are others
    std::array<double, 4> at{};
    std::array<long long, 4> count{};
    std::array<std::vector<double>, 4> terms;
  };
  /// What is proved of a piece as long as its arms have these counts.
  struct Proof {
    std::array<long long, 4> count{};
    double lower = 0.0;
  };

  [[nodiscard]] const ShiftedArm& arm(const Samples& samples, Index m);
  [[nodiscard]] std::array<Sector, 3> sectors(const Samples& samples, const Witness& w) const;
  [[nodiscard]] OneSidedInfimum infimum(const Samples& samples, const Sector& sector, double too_little);
  /// log E at the point, from the components of its sector; `sum_` becomes those of the components.
  [[nodiscard]] double value(const Samples& samples, Point& point);
  void keep(const Samples& samples, const Witness& w, const Sector& sector, const std::array<double, 4>& at);
  [[nodiscard]] static bool is_rising(const Samples& samples, const Witness& w) {
    return samples.estimates()(w.a, 0) >= samples.estimates()(w.b, 0);
  }
  [[nodiscard]] double reach(const Samples& samples, Index m, std::size_t j, double level);

  const Model* model_;
  std::vector<double> grid_;
  ShiftPrior prior_;
  OneSidedSearch search_;
  std::vector<ShiftedArm> arms_;
  std::vector<long long> counts_;  ///< the samples that `arms_` have
  std::vector<Point> points_;
  std::size_t next_ = 0;                          ///< the point that is replaced next
  std::map<std::array<Index, 4>, Proof> proofs_;  ///< by u, v, b, a
  std::vector<double> sum_;
  long long work_ = 0;
};

}  // namespace linkarms
