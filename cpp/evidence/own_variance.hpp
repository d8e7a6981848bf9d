// Evidence of Gaussian arms that each have a variance of their own, one for all coordinates, one per coordinate,
// or a covariance (section 6 of math.md), as an average over the grid of c (7.4).
//
// With l_mj(lambda) the evidence of arm m at the j-th c, and w_j its weight,
//   E(lambda) = sum_j w_j (s exp(sum_m l_mj(lambda_m)) + (1 - s) mean_m exp(l_mj(lambda_m))) .
// Each part is a martingale of mean one at the truth, so E is. In the second an arm that would have to move far
// does not pay the prices of the others: where gaps are wide and samples few that is most of what there is to pay.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "evidence/pairs.hpp"
#include "evidence/variance_forms.hpp"
#include "evidence/variance_sectors.hpp"

namespace linkarms {

class OwnVarianceEvidence {
 public:
  static constexpr EvidenceUnit unit = EvidenceUnit::set;
  static constexpr bool averages_grid = true;
  /// The least work for one statistic, in what `work` counts: about 5 us each in two dimensions.
  static constexpr long long most_work = 8000;

  /// With a tolerance, lengths between clusters come stretched by it. `Shapes::round`: the evidence with the largest
  /// variance of each arm in every direction, which is never above, and for which the tolerance counts; `own` takes no
  /// account of it. With `limits`: for merges and splits under a distance threshold.
  enum class Shapes { own, round };
  OwnVarianceEvidence(const Model& model, std::vector<double> grid, double discount, double tolerance = 0.0,
                      Shapes shapes = Shapes::own, std::optional<Limits> limits = {});

  [[nodiscard]] double against(const Situation& now, const Witness& w, double level, Index first);
  [[nodiscard]] bool is_below(const Situation& now, const Witness& w, double level, Index first);
  /// Whether it is below `level` by a lambda that is known or quickly found: no proof.
  [[nodiscard]] bool is_known_below(const Situation& now, const Witness& w, double level, Index first);
  /// What it is known to be at most, by the last such question that was answered with no.
  [[nodiscard]] double last_known() const { return last_known_; }
  [[nodiscard]] Index best_scale(const Situation& now, const Witness& w, Index scale);
  /// For the shares of the c that are best where it matters and for those of the prices alone; and by one arm alone.
  [[nodiscard]] std::vector<SpreadBounds> bounds(const Situation& now, double level, Index first, const Witness& at);
  /// Pieces that `against` was asked for so far, and the Gaussian problems that it solved, each by the cube of its dimensions.
  /// With few arms more is done for one statistic: there every piece should be proved.
  [[nodiscard]] long long work() const { return work_; }
  [[nodiscard]] long long work_limit() const {
    const long long n = model_->n_arms();
    return std::max(most_work, static_cast<long long>(4e7) / (n * n));
  }
  /// A quick look at a merge or a split: true only where the evidence is at least `level`.
  [[nodiscard]] bool is_clear(const Situation& now, const Witness& w, double level, Index first);
  void sampled(const Situation&, Index) const {}
  void forget();

 private:
  /// What the samples of one arm say, after `count` of them.
  struct Entry {
    long long count = -1;
    ArmShape shape;
    std::vector<VarianceRise> rise;  ///< for each c
    std::vector<double> price;
    RiseTable table;  ///< of the rises
  };
  /// What is kept of a piece: a lambda that its constraint allows (rows u, v, b, a), and what was found when its arms had these
  /// counts, with the c to begin with.
  struct Known {
    Witness witness;
    std::array<long long, 4> count{-1, -1, -1, -1};
    Index first = -1;
    Matrix lam;                                         ///< empty: none yet
    std::vector<double> terms;                          ///< l_mj there, one row per arm
    std::array<bool, 4> stale{true, true, true, true};  ///< arms whose terms are not those of their counts
    double value = inf;                                 ///< log E there; infinite: not computed for these counts
    double reached = -inf;                              ///< a level that the piece was found to reach
    double missed = inf;                                ///< and one that it was not proved to
    bool searched = false;                              ///< whether a lower lambda was looked for
    double samples_then = 0.0;                          ///< of its arms, when it was looked for everywhere
  };
  /// The arms of a witness, what their samples say, what is kept of it, and the problem below, once they are to be moved. `t`
  /// are the forms at a lambda.
  struct Piece {
    const Situation& now;
    Witness witness;
    std::array<Index, 4> arms;
    std::size_t count, per;
    std::array<Entry*, 4> entries;
    Known* known;
    std::unique_ptr<VarianceForms> forms;
    std::unique_ptr<VarianceSectors> sectors;  ///< where the infimum is found by them
    std::vector<double> t;
    [[nodiscard]] std::span<const double> of(std::size_t i) const { return std::span(t).subspan(i * per, per); }
  };

  /// More than proofs are worth it for: the prior of the precision is centred, as under a threshold, and less is searched.
  [[nodiscard]] bool has_many_arms() const;
  [[nodiscard]] Entry& entry(const Samples& samples, Index m);
  [[nodiscard]] Piece piece(const Situation& now, const Witness& w, Index first);
  /// What is kept of a piece whose arms have these counts.
  [[nodiscard]] Known& known(const Witness& w, const std::array<long long, 4>& count, Index first);
  void make_forms(Piece& piece) const;
  /// log E as a function of the forms.
  [[nodiscard]] VarianceAverage average(const Piece& piece) const;
  /// Whether the infimum is where every arm is: the constraint holds there, or some arm moves anywhere for nothing.
  [[nodiscard]] bool is_free(const Piece& piece) const;
  /// l_mj of the i-th arm at `piece.t`.
  [[nodiscard]] double arm_evidence(const Piece& piece, std::size_t i, std::size_t j) const;
  /// The c for which all arms together have the most evidence at `piece.t`; `scale` where none has any.
  [[nodiscard]] Index largest_scale(const Piece& piece, Index scale) const;
  /// log E at `piece.t`; and from the l_mj, one row per arm.
  [[nodiscard]] double log_evidence(const Piece& piece) const;
  [[nodiscard]] double log_average(std::span<const double> terms, std::size_t n_arms) const;
  /// The logarithms of the weights of the two parts at the j-th c.
  [[nodiscard]] double log_all(std::size_t j) const { return log_all_[j]; }
  [[nodiscard]] double log_alone(std::size_t j, std::size_t n_arms) const { return log_alone_[n_arms - 2][j]; }

  /// By 7.4, for a distribution q on the parts of E: log E >= sum of their logarithms, each times its share, less
  /// sum q log(q / weight). With the q of the parts at `piece.t` both are equal there. Returns what the arms'
  /// rises have to reach for the right side to be at least `level`.
  [[nodiscard]] ConcaveGoal goal_at(const Piece& piece, double level) const;
  [[nodiscard]] ConcaveGoal goal_of(const Piece& piece, Index scale) const;
  /// The forms where the arms would go if the rises were linear.
  [[nodiscard]] std::vector<double> first_move(Piece& piece, Index first) const;
  /// A short proof, enough for most pieces: true only where log E is at least `level`.
  [[nodiscard]] bool is_quickly_proved(Piece& piece, Index first, double level);
  /// Whether log E is below `level` at a lambda that is kept, or that a descent or two come to.
  [[nodiscard]] bool is_low_somewhere(Piece& piece, Index first, double level);
  /// Go down from the lambda that is kept, or from where linear rises would lead; true if log E comes below `level`.
  [[nodiscard]] bool goes_below(Piece& piece, Index first, double level);
  /// Bring `piece.t` to a low point of log E, and keep it; returns log E there.
  double find_low(Piece& piece, Index first);
  /// Bring `piece.t` to many places, of which one is near the least log E of two arms; `consider` looks at each.
  void share_the_way(Piece& piece, const std::function<void()>& consider) const;
  /// What of the known lambdas may be used: nothing where the answer itself counts and not only whether it reaches a level.
  enum class Use { nothing, known };
  /// The infimum of log E within a thousandth, from below, for a piece that is not free; ends as soon as it is sure to be at
  /// least `enough`, or below `too_little`.
  double infimum(Piece& piece, Index first, double enough, double too_little, Use use);
  /// The same by proofs for one level after another.
  double halve(Piece& piece, Index first, double enough, double too_little, Use use);
  /// Whether log E is proved to be at least `level`, from the lowest place that is found.
  [[nodiscard]] bool is_reached(Piece& piece, Index first, double level);
  /// Go down from `piece.t` by tangents of log E; what is lower is kept.
  void go_down(Piece& piece);
  void go_down_everywhere(Piece& piece, Index first);
  /// Bring `piece.t` to a lambda that the constraint allows, as far as it still does; returns log E there.
  double evaluate(Piece& piece, const Matrix& lam) const;
  /// log E at the lambda that is kept, if there is one: only arms that were sampled are looked at again.
  void refresh(Piece& piece) const;
  /// Keep a lambda with this log E if there is none that is lower.
  static void keep(const Piece& piece, const Matrix& lam, double value);
  /// Whether log E is at least `level` everywhere; proved with the shares at `piece.t`.
  [[nodiscard]] bool is_proved(Piece& piece, double level, double patience);
  /// How far one arm of three or four has to be for log E to reach a level, whatever the others do: its t, infinite where that is
  /// not enough; and what log E is at least.
  struct AloneCaps {
    std::size_t n_arms;
    double least;
    std::vector<double> t;
  };
  /// What lengths say about log E, once all entries are those of the samples: by the arm that moves most; and by all of them,
  /// where each c has a share.
  [[nodiscard]] AloneCaps caps_alone(double level, std::size_t n_arms) const;
  [[nodiscard]] SpreadBounds bounds_alone(double level, const AloneCaps& caps) const;
  [[nodiscard]] SpreadBounds bounds_together(std::span<const double> share, double level, const AloneCaps& caps) const;

  const Model* model_;
  std::vector<double> grid_, log_all_;
  std::array<std::vector<double>, 3> log_alone_;  ///< of two, three and four arms
  double last_known_ = inf;
  double discount_, tolerance_;
  Shapes shapes_;
  std::optional<Limits> limits_;
  std::vector<Entry> entries_;
  std::unordered_map<std::uint64_t, Known> known_;  ///< by the arms
  long long work_ = 0;
};

}  // namespace linkarms
