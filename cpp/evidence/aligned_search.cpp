#include "evidence/aligned_search.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <queue>
#include <type_traits>

#include "evidence/aligned_sweep.hpp"
#include "pair/isotropic.hpp"

namespace linkarms {

namespace {

using std::numbers::pi;

/// More than rounding and the conjugates' tolerance can do to a bound, as a share of one more than it.
constexpr double rounding = 1e-7;

struct Lower {
  bool operator()(const DirectionBox& x, const DirectionBox& y) const { return x.bound > y.bound; }
};

}  // namespace

IsotropicPart isotropic_part(const AlignedPiece& piece, const PairDifferences& pairs) {
  const double p = pairs.p, q = pairs.q, turn = 2.0 * std::sin(0.5 * pairs.angle);
  const double r = std::sqrt(std::max(0.0, p * p + q * q - 2.0 * p * q * std::cos(pairs.angle)));
  IsotropicPart out;
  for (std::size_t j = 0; j < piece.grid_size(); ++j) {
    std::array<double, 4> i{};  // spreads
    double price = 0.0;
    for (std::size_t m = 0; m < piece.size(); ++m) {
      i[m] = 1.0 / piece.arm(m)[j].weight;
      price += piece.arm(m)[j].price;
    }
    const double gap = std::max(q - p, 0.0), total = i[role_u] + i[role_v] + i[role_b] + i[role_a];
    const double cost = piece.shared() ? shared_cost(p, q, r, i[role_u], i[role_v], i[role_b]) : 0.5 * gap * gap / total;
    if (!(cost - price + piece.log_mass_isotropic() > out.value)) continue;
    out.value = cost - price + piece.log_mass_isotropic();
    out.scale = static_cast<Index>(j);
    const double of_u = piece.shared() ? turn : 1.0;
    out.mu = gap / (of_u * of_u * i[role_u] + i[role_v] + i[role_b] + i[role_a]);
    for (std::size_t m = 0; m < 4; ++m) out.along[m] = (m == role_u ? of_u : 1.0) * i[m] * out.mu;
  }
  return out;
}

namespace {

template <class Geometry>
class Search {
 public:
  /// `proves`: nothing is asked but whether the infimum reaches `goal.enough`.
  Search(const AlignedPiece& piece, const SearchGoal& goal, bool proves)
      : piece_(piece),
        goal_(goal),
        geometry_(piece),
        isotropic_(isotropic_part(piece, geometry_.pairs())),
        level_(proves ? goal.enough + 2.0 * rounding * (1.0 + std::abs(goal.enough)) : inf),
        dual_(piece, isotropic_.along, isotropic_.mu),
        best_(dual_),
        went_down_(piece.dimension() == 1) {}
  Bracket run();
  Bracket look(const std::optional<Directions>& at);

 private:
  /// What is enough for a box.
  [[nodiscard]] double enough() const { return std::min(level_, std::min(found_.upper, best_value_) - goal_.gap); }
  /// Whether the goal is decided: the infimum is below it, or no box around the best directions could reach it.
  [[nodiscard]] bool is_below() const {
    return found_.upper < goal_.too_little || best_value_ < goal_.too_little - 2.0 * goal_.gap;
  }
  /// What is known so far. It never falls.
  [[nodiscard]] double lower() const {
    const double least = std::min(closed_, open_.empty() ? inf : open_.top().bound);
    return std::max(isotropic_.value, least - rounding * (1.0 + std::abs(least)));
  }
  /// An angle between e and q from which on the isotropic components of the inter pair alone are enough:
  /// |w_a - w_b| >= q sin(beta).
  [[nodiscard]] double largest_turn() const;
  /// Solve the dual for some directions, and remember them if it gives less than before.
  double solve(const Directions& at);
  /// Go down from some directions, in the coordinates of the geometry.
  void go_down(const Vector3& from);
  void visit(DirectionBox box);
  /// Boxes that hold all directions that have not been cleared of the level.
  [[nodiscard]] std::vector<DirectionBox> boxes();
  /// Clear directions of the level by multipliers for many of them; what is left.
  DirectionSweep::Rest clear(const Directions& low, const Directions& high);

  const AlignedPiece& piece_;
  SearchGoal goal_;
  Geometry geometry_;
  IsotropicPart isotropic_;
  double level_;  ///< that of the goal, with room for rounding
  AlignedDual dual_,
      best_;  ///< for the directions that were solved last, and for those with the smallest value
  Directions best_at_{};
  double best_value_ = inf;
  std::priority_queue<DirectionBox, std::vector<DirectionBox>, Lower> open_;
  Bracket found_;
  double closed_ = inf;  ///< the smallest bound of what was enough
  bool went_down_;
  int sweeps_ = 12;  ///< that may still be made
};

template <class Geometry>
double Search<Geometry>::largest_turn() const {
  const double q = geometry_.pairs().q;
  double least = 1.0;
  for (std::size_t j = 0; j < piece_.grid_size(); ++j) {
    const AlignedArm::Terms &x = piece_.arm(piece_.role_of_a())[j], &y = piece_.arm(role_b)[j];
    const double needed = std::max(0.0, enough() - piece_.log_mass_isotropic() + x.price + y.price);
    least = std::min(least, needed * 2.0 * (1.0 / x.weight + 1.0 / y.weight) / (q * q));
  }
  return least < 1.0 ? std::asin(std::sqrt(least)) : pi;
}

template <class Geometry>
double Search<Geometry>::solve(const Directions& at) {
  const double value = dual_.solve(geometry_.frame(at), enough(), goal_.gap);
  ++found_.boxes;
  // (after the first point one that is not below the level is of no use)
  const bool first = found_.lambda.rows() == 0;
  if (first || (dual_.primal() < found_.upper && dual_.primal() < level_ + goal_.gap)) {
    Matrix lambda = geometry_.lambda(dual_, at);
    const double there = piece_.log_evidence(lambda);
    if (first || there < found_.upper) {
      found_.upper = there;
      found_.lambda = std::move(lambda);
      found_.at = at;
    }
  }
  if (value < best_value_) {
    best_value_ = value;
    best_at_ = at;
    best_ = dual_;
  }
  return value;
}

template <class Geometry>
void Search<Geometry>::go_down(const Vector3& from) {
  went_down_ = true;
  const double scale = 1.0 / (10.0 + 2.0 * dual_.multipliers().mu * geometry_.pairs().q);
  descend(
      from, scale, [&](const Vector3& x) { return is_below() ? -inf : solve(geometry_.directions(x)); },
      [&](const Vector3& x) { return geometry_.gradient(dual_, x); },
      [&](double) { return is_below() ? inf : 10.0 * goal_.gap; });
}

template <class Geometry>
void Search<Geometry>::visit(DirectionBox box) {
  // from the point of the box that is nearest to the smallest value: there the box is likely to have its own
  Directions at;
  for (std::size_t i = 0; i < 3; ++i) at[i] = std::clamp(best_at_[i], box.low[i], box.high[i]);
  const bool at_best = at == best_at_;
  const double value = at_best ? best_value_ : solve(at);
  if (value < level_ && !went_down_) {
    go_down(geometry_.coordinates(at));
    return open_.push(box);
  }
  const BoxBound bound = geometry_.bound(at_best ? best_ : dual_, value, at, box);
  ++found_.boxes;
  box.bound = std::max(box.bound, bound.value);
  const std::size_t i = bound.side;
  const double middle = 0.5 * (box.low[i] + box.high[i]);
  if (box.bound >= enough() || !(box.low[i] < middle && middle < box.high[i])) {
    closed_ = std::min(closed_, box.bound);
    return;
  }
  DirectionBox half = box;
  half.high[i] = middle;
  open_.push(half);
  half = box;
  half.low[i] = middle;
  open_.push(half);
}

template <class Geometry>
DirectionSweep::Rest Search<Geometry>::clear(const Directions& low, const Directions& high) {
  constexpr double smaller = 0.7;
  DirectionSweep sweep(geometry_.pairs(), low, high);
  sweep.raise(best_, level_);
  DirectionSweep::Rest rest = sweep.rest(level_);
  // the multiplier of the lowest cell, as long as that clears some of what is left
  for (int before = 2 * rest.cells; sweeps_ > 0 && rest.cells > 0 && rest.cells < 0.9 * before; --sweeps_) {
    if (solve(rest.worst) < level_) break;
    before = rest.cells;
    sweep.raise(dual_, level_);
    rest = sweep.rest(level_);
  }
  closed_ = std::min(closed_, rest.cleared);
  // what is left once more, with smaller cells
  const auto area = [](const Directions& from, const Directions& to) { return (to[0] - from[0]) * (to[1] - from[1]); };
  return sweeps_ > 0 && rest.cells > 0 && area(rest.low, rest.high) < smaller * area(low, high) ? clear(rest.low, rest.high)
                                                                                                : rest;
}

template <class Geometry>
std::vector<DirectionBox> Search<Geometry>::boxes() {
  if (piece_.dimension() == 1) return geometry_.everything(pi);
  const double turn = largest_turn();
  if (turn < pi) closed_ = enough();
  std::vector<DirectionBox> out = geometry_.everything(turn);
  if constexpr (std::is_same_v<Geometry, SharedDirections>) {
    if (level_ == inf || best_value_ < level_) return out;
    const Directions low{}, high{turn, pi, 0.0};
    const DirectionSweep::Rest rest = clear(low, high);
    if (rest.cells == 0) return {};
    // bounds are the best around the smallest value
    go_down(best_at_ == geometry_.start() ? geometry_.first(best_) : geometry_.coordinates(best_at_));
    for (DirectionBox& box : out) {
      for (std::size_t i = 0; i < 2; ++i) {
        box.low[i] = rest.low[i];
        box.high[i] = rest.high[i];
      }
    }
  }
  return out;
}

template <class Geometry>
Bracket Search<Geometry>::run() {
  if (isotropic_.value >= goal_.enough) {
    found_.lower = isotropic_.value;
    return std::move(found_);
  }
  solve(geometry_.start());
  if (!went_down_ && best_value_ < level_ && !is_below()) go_down(geometry_.first(dual_));
  for (const DirectionBox& box : boxes()) open_.push(box);
  while (!open_.empty() && found_.boxes < goal_.boxes && !is_below() && open_.top().bound < enough() && lower() < goal_.enough) {
    const DirectionBox box = open_.top();
    open_.pop();
    visit(box);
  }
  found_.lower = lower();
  return std::move(found_);
}

template <class Geometry>
Bracket Search<Geometry>::look(const std::optional<Directions>& at) {
  const double first = solve(geometry_.start());
  if (at && !is_below() && *at != geometry_.start()) {
    const bool better = solve(*at) < first;
    if (!went_down_ && !is_below()) go_down(better ? geometry_.coordinates(*at) : geometry_.first(dual_));
  }
  return std::move(found_);
}

}  // namespace

Bracket bracket_infimum(const AlignedPiece& piece, const SearchGoal& goal) {
  const auto search = [&](const SearchGoal& to, bool proves) {
    return piece.shared() ? Search<SharedDirections>(piece, to, proves).run() : Search<FourDirections>(piece, to, proves).run();
  };
  int before = 0;
  if (goal.enough < inf) {
    SearchGoal proof = goal;
    proof.too_little = std::max(goal.enough, goal.too_little);
    Bracket found = search(proof, true);
    if (found.lower >= goal.enough || found.upper < goal.too_little) return found;
    before = found.boxes;
  }
  Bracket found = search(goal, false);
  found.boxes += before;
  return found;
}

Bracket look_below(const AlignedPiece& piece, const std::optional<Directions>& at, double level) {
  const SearchGoal goal{.enough = level, .too_little = level};
  return piece.shared() ? Search<SharedDirections>(piece, goal, true).look(at)
                        : Search<FourDirections>(piece, goal, true).look(at);
}

}  // namespace linkarms
