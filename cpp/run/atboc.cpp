#include "run/atboc.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "math/constants.hpp"
#include "run/matrix_game.hpp"

namespace linkarms {
namespace {

/// How often psi may be evaluated for one sample.
constexpr int most_turns = 200;
/// How near to the best point psi is asked in the first few turns. Most samples need one or two.
constexpr double first_stay = 0.1;
constexpr int quick_turns = 10;

[[nodiscard]] std::array<Index, 4> arms_of(const Witness& w) {
  return {w.u, w.v, w.a, w.b};
}

}  // namespace

AtbocTracker::AtbocTracker(const Model& model, double gap)
    : model_(&model), gap_(gap), priced_(model.n_arms(), model.n_features(), nan) {
  const auto n = static_cast<std::size_t>(model.n_arms());
  memory_.weights.assign(n, 0.0);
  memory_.total.assign(n, 0.0);
  memory_.labels.assign(n, 0);
  memory_.mixture.assign(room(), 0.0);
}

void AtbocTracker::set_memory(AtbocMemory memory) {
  const auto n = static_cast<std::size_t>(model_->n_arms());
  const bool fits = memory.weights.size() == n && memory.total.size() == n && memory.labels.size() == n &&
                    memory.mixture.size() == room() && memory.cuts.size() <= room() && memory.last >= 0;
  const bool arms = std::ranges::all_of(memory.cuts, [&](const MovedArms& cut) {
    return cut.points.rows() == 4 && cut.points.cols() == model_->n_features() &&
           std::ranges::all_of(cut.arms, [&](Index m) { return 0 <= m && m < model_->n_arms(); });
  });
  if (!fits || !arms) throw std::invalid_argument("this is not what ATBOC keeps for these arms");
  memory_ = std::move(memory);
  rows_.assign(memory_.cuts.size(), std::vector<double>(n));
  priced_ = Matrix(model_->n_arms(), model_->n_features(), nan);
}

Index AtbocTracker::choose(const ClusteredArms& now, NearestAlternative& free, std::span<const std::int64_t> pulls,
                           std::int64_t told) {
  const auto n_arms = static_cast<Index>(pulls.size());
  if (told > memory_.last) {
    if (memory_.last == 0) {
      std::ranges::fill(memory_.weights, 1.0 / n_arms);
      std::ranges::fill(memory_.total, static_cast<double>(told - 1) / n_arms);
      memory_.last = told - 1;
    }
    if (!std::ranges::equal(memory_.labels, now.clusters.labels())) {  // other clusters, other alternatives
      memory_.cuts.clear();
      rows_.clear();
      std::ranges::copy(now.clusters.labels(), memory_.labels.begin());
    }
    optimise(now, free);
    for (Index m = 0; m < n_arms; ++m) {
      memory_.total[m] += static_cast<double>(told - memory_.last) * memory_.weights[m];
    }
    memory_.last = told;
  }
  std::int64_t total = 0;
  for (const auto n : pulls) total += n;
  const auto fewest = std::ranges::min_element(pulls);
  if (static_cast<double>(*fewest) < std::sqrt(static_cast<double>(total) / n_arms)) {
    return static_cast<Index>(fewest - pulls.begin());
  }
  Index best = 0;
  double lowest = inf;
  for (Index m = 0; m < n_arms; ++m) {
    const double behind = static_cast<double>(pulls[m]) - memory_.total[m];
    if (behind < lowest) {
      lowest = behind;
      best = m;
    }
  }
  return best;
}

// The divergence of arm m in one cut; 0 where the arm does not move. (Where arms are isotropic in one
// division: recorded runs depend on how it is rounded, because the game below has many nearly equal
// vertices.)
void AtbocTracker::price_arm(const Matrix& theta, std::size_t cut, Index m) {
  const MovedArms& moved = memory_.cuts[cut];
  const auto i = std::ranges::find(moved.arms, m);
  rows_[cut][m] = 0.0;
  if (i == moved.arms.end()) return;
  const View from = theta.row(m), to = moved.points.row(static_cast<Index>(i - moved.arms.begin()));
  if (!model_->arm(m).is_isotropic()) {
    rows_[cut][m] = model_->arm(m).kl(from, to);
    return;
  }
  double total = 0.0;
  for (std::size_t k = 0; k < from.size(); ++k) total += (to[k] - from[k]) * (to[k] - from[k]);
  rows_[cut][m] = total / (2.0 * model_->arm(m).variance(from));
}

// Bring the divergences up to date, for the arms whose estimates have moved; the upper bound that the mixture
// proves.
double AtbocTracker::price(const Matrix& theta) {
  for (Index m = 0; m < theta.rows(); ++m) {
    if (std::ranges::equal(theta.row(m), priced_.row(m))) continue;
    for (std::size_t j = 0; j < memory_.cuts.size(); ++j) price_arm(theta, j, m);
    std::ranges::copy(theta.row(m), priced_.row(m).begin());
  }
  if (memory_.cuts.empty()) return inf;
  double upper = 0.0;
  for (Index m = 0; m < theta.rows(); ++m) {
    double value = 0.0;
    for (std::size_t j = 0; j < rows_.size(); ++j) {
      if (memory_.mixture[j] > 0.0) value += memory_.mixture[j] * rows_[j][m];
    }
    upper = std::max(upper, value);
  }
  return upper;
}

// Add the cut of an alternative. Where there is no room the oldest that proves nothing goes, or the oldest of
// all.
void AtbocTracker::add_cut(const Matrix& theta, const NearestAlternative& found) {
  auto& [last, evaluations, lower, upper, weights, total, labels, cuts, mixture] = memory_;
  if (cuts.size() == room()) {
    const auto idle = std::find(mixture.begin(), mixture.end(), 0.0);
    const auto gone = idle == mixture.end() ? 0 : idle - mixture.begin();
    cuts.erase(cuts.begin() + gone);
    rows_.erase(rows_.begin() + gone);
    mixture.erase(mixture.begin() + gone);
    mixture.push_back(0.0);
  }
  MovedArms cut{arms_of(found.witness()), Matrix(4, theta.cols())};
  for (Index i = 0; i < 4; ++i) std::ranges::copy(found.lam().row(cut.arms[i]), cut.points.row(i).begin());
  cuts.push_back(std::move(cut));
  rows_.emplace_back(theta.rows(), 0.0);
  for (const Index m : cuts.back().arms) price_arm(theta, cuts.size() - 1, m);
}

// Bring the weights to within the relative gap of the maximum of psi; nothing is solved where they are that
// near already. First the cuts are priced at the estimates, and psi is taken at the weights: a bracket. While
// it is wider than the gap, the cut at the last point is added, a matrix game gives the highest point of all
// cuts, and psi is asked between this and the best point so far (Ben-Ameur and Neto 2007): near the former at
// first, half-way if that is not enough, because the highest point alone jumps about. Where clusters have
// three arms or more psi is a bound that is not concave; the cuts are then not proved, and the search ends
// after `most_turns`.
void AtbocTracker::optimise(const ClusteredArms& now, NearestAlternative& free) {
  double upper = price(now.theta), best = 0.0;
  std::vector<double> asked = memory_.weights, highest(asked.size());
  std::vector<View> rows;
  for (int turn = 0; turn < most_turns; ++turn) {
    std::ranges::copy(asked, free.weights().begin());
    free.find(now, std::nullopt);
    ++memory_.evaluations;
    const double value = free.psi();
    if (turn == 0 || value > best) {
      best = value;
      memory_.weights = asked;
    }
    if (upper <= best * (1.0 + gap_) || !free.witness().exists() || !std::isfinite(value)) break;
    add_cut(now.theta, free);
    rows.assign(rows_.begin(), rows_.end());
    upper = solve_game(rows, highest, memory_.mixture);
    if (upper <= best * (1.0 + gap_)) break;
    const double stay = turn < quick_turns ? first_stay : 0.5;
    for (std::size_t m = 0; m < asked.size(); ++m) asked[m] = stay * memory_.weights[m] + (1.0 - stay) * highest[m];
  }
  memory_.lower = best;
  memory_.upper = upper;
}

}  // namespace linkarms
