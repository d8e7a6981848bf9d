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

/// How near a dual that is well above the level is to the best.
constexpr double rough = 0.5;
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

std::array<Shift, 4> shifts(const std::array<double, 4>& along) {
  std::array<Shift, 4> w;
  for (std::size_t m = 0; m < w.size(); ++m) w[m] = {along[m], along[m] * along[m]};
  return w;
}

/// An angle between e and q from which on the isotropic components of the inter pair alone reach `level`:
/// |w_a - w_b| >= q sin(beta).
double largest_turn(const AlignedPiece& piece, double q, double level) {
  double least = 1.0;
  for (std::size_t j = 0; j < piece.grid_size(); ++j) {
    const AlignedArm::Terms &x = piece.arm(piece.role_of_a())[j], &y = piece.arm(role_b)[j];
    const double needed = std::max(0.0, level - piece.log_mass_isotropic() + x.price + y.price);
    least = std::min(least, needed * 2.0 * (1.0 / x.weight + 1.0 / y.weight) / (q * q));
  }
  return least < 1.0 ? std::asin(std::sqrt(least)) : pi;
}

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
        dual_(piece, shifts(isotropic_.along), isotropic_.mu),
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
  /// Solve the dual for some directions, and remember them if it gives less than before.
  double solve(const Directions& at);
  /// The dual's minimiser as a point, if it has less evidence than the one before.
  void try_point(const AlignedDual& dual, const Directions& at);
  /// What was found, with a point if it was no proof.
  Bracket end(double lower);
  /// Go down from some directions, in the coordinates of the geometry.
  void go_down(const Vector3& from);
  void visit(DirectionBox box);
  /// Boxes that hold all directions that have not been cleared of the level.
  [[nodiscard]] std::vector<DirectionBox> boxes();
  /// Clear a box of the level by multipliers for many directions; what is left.
  void clear(const DirectionBox& box, std::vector<DirectionBox>& left);

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
  int sweeps_ = 200;  ///< that may still be made
};

template <class Geometry>
double Search<Geometry>::solve(const Directions& at) {
  // well above the level a rough solution is enough
  const Frame frame = geometry_.frame(at);
  const bool may_be_rough = level_ < inf && piece_.dimension() > 1;
  const double gap = may_be_rough ? std::clamp(0.1 * (best_value_ - level_), goal_.gap, rough) : goal_.gap;
  double value = dual_.solve(frame, enough(), gap);
  if (value < level_ + gap && gap > goal_.gap) value = dual_.solve(frame, enough(), goal_.gap);
  ++found_.boxes;
  if (dual_.primal() < found_.upper && dual_.primal() < level_ + goal_.gap) try_point(dual_, at);
  if (value < best_value_) {
    best_value_ = value;
    best_at_ = at;
    best_ = dual_;
  }
  return value;
}

template <class Geometry>
void Search<Geometry>::try_point(const AlignedDual& dual, const Directions& at) {
  AlignedPoint point(piece_, geometry_.lambda(dual, at));
  const double there = point.value(piece_);
  if (!(there < found_.upper)) return;
  found_.upper = there;
  found_.point = std::move(point);
  found_.at = at;
}

template <class Geometry>
Bracket Search<Geometry>::end(double lower) {
  found_.lower = lower;
  if (found_.lower < goal_.enough && found_.upper == inf) try_point(best_, best_at_);
  return std::move(found_);
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
void Search<Geometry>::clear(const DirectionBox& box, std::vector<DirectionBox>& left) {
  constexpr double smaller = 0.7;
  DirectionSweep sweep(geometry_.pairs(), box.low, box.high);
  sweep.raise(best_, level_);
  DirectionSweep::Rest rest = sweep.rest(level_);
  // multipliers of what is left: of its middle, rather towards the lowest cell, as long as that clears some of it
  for (int before = 2 * rest.cells; sweeps_ > 0 && rest.cells > 0 && rest.cells < before; --sweeps_) {
    Directions at = rest.worst;
    for (std::size_t i = 0; i < 2; ++i) at[i] = 0.25 * at[i] + 0.375 * (rest.low[i] + rest.high[i]);
    if (solve(at) < level_) sweeps_ = 0;
    before = rest.cells;
    sweep.raise(dual_, level_);
    rest = sweep.rest(level_);
  }
  closed_ = std::min(closed_, rest.cleared);
  if (rest.cells == 0) return;
  DirectionBox next{rest.low, rest.high, -inf};
  if (sweeps_ <= 0) return left.push_back(next);
  // what is left once more, with smaller cells
  const auto area = [](const Directions& from, const Directions& to) { return (to[0] - from[0]) * (to[1] - from[1]); };
  if (area(next.low, next.high) < smaller * area(box.low, box.high)) return clear(next, left);
  const double turned = (next.high[2] - next.low[2]) * std::sin(std::min(0.5 * pi, next.high[0]));
  const std::array widths{next.high[0] - next.low[0], next.high[1] - next.low[1], turned};
  const auto side = static_cast<std::size_t>(std::ranges::max_element(widths) - widths.begin());
  DirectionBox half = next;
  half.high[side] = next.low[side] = 0.5 * (next.low[side] + next.high[side]);
  clear(half, left);
  clear(next, left);
}

template <class Geometry>
std::vector<DirectionBox> Search<Geometry>::boxes() {
  if (piece_.dimension() == 1) return geometry_.everything(pi);
  const double turn = largest_turn(piece_, geometry_.pairs().q, enough());
  if (turn < pi) closed_ = enough();
  if constexpr (std::is_same_v<Geometry, SharedDirections>) {
    if (level_ < inf && best_value_ >= level_) {
      std::vector<DirectionBox> left;
      for (const DirectionBox& box : geometry_.everything(turn)) clear(box, left);
      // bounds are the best around the smallest value
      if (!left.empty()) go_down(best_at_ == geometry_.start() ? geometry_.first(best_) : geometry_.coordinates(best_at_));
      return left;
    }
  }
  return geometry_.everything(turn);
}

template <class Geometry>
Bracket Search<Geometry>::run() {
  if (isotropic_.value >= goal_.enough) return end(isotropic_.value);
  solve(geometry_.start());
  if (!went_down_ && best_value_ < level_ && !is_below()) go_down(geometry_.first(dual_));
  for (const DirectionBox& box : boxes()) open_.push(box);
  while (!open_.empty() && found_.boxes < goal_.boxes && !is_below() && open_.top().bound < enough() && lower() < goal_.enough) {
    const DirectionBox box = open_.top();
    open_.pop();
    visit(box);
  }
  return end(lower());
}

template <class Geometry>
Bracket Search<Geometry>::look(const std::optional<Directions>& at) {
  if (isotropic_.value >= goal_.enough) return end(isotropic_.value);
  const double first = solve(geometry_.start());
  if (at && !is_below() && *at != geometry_.start()) {
    const bool better = solve(*at) < first;
    if (!went_down_ && !is_below()) go_down(better ? geometry_.coordinates(*at) : geometry_.first(dual_));
  }
  return end(isotropic_.value);
}

/// Whether a box of the directions of four arms is proved to reach `level` by the multipliers of its middle, or of the middles of
/// its parts, halved at most so often.
bool is_cleared(const FourDirections& geometry, AlignedDual& dual, const DirectionBox& box, double level, int halvings) {
  const double middle = 0.5 * (box.low[0] + box.high[0]);
  const auto clears = [&](double value) { return value >= level && geometry.bound(dual, value, {middle}, box).value >= level; };
  const double value = dual.solve(geometry.frame({middle}), level, rough, clears);
  if (clears(value)) return true;
  return value >= level && halvings > 0 && is_cleared(geometry, dual, {{middle}, box.high, 0.0}, level, halvings - 1) &&
         is_cleared(geometry, dual, {box.low, {middle}, 0.0}, level, halvings - 1);
}

/// Whether little work proves that a piece of four arms in d >= 2 reaches `level`.
bool is_proved_at_once(const AlignedPiece& piece, double level) {
  constexpr int halvings = 2;
  if (piece.shared() || piece.dimension() == 1 || level == inf) return false;
  const FourDirections geometry(piece);
  const IsotropicPart start = isotropic_part(piece, geometry.pairs());
  if (start.value >= level) return true;
  if (!(start.mu > 0.0)) return false;
  const DirectionBox all = geometry.everything(largest_turn(piece, geometry.pairs().q, level)).front();
  const double outside = geometry.frame({0.5 * (all.low[0] + all.high[0])}).outside;
  std::array<Shift, 4> w = shifts(start.along);
  const double total = start.along[role_a] + start.along[role_b];
  for (const std::size_t m : {role_a, role_b}) w[m].square += outside * (w[m].along / total) * (w[m].along / total);
  AlignedDual dual(piece, w, start.mu);
  return is_cleared(geometry, dual, all, level + 2.0 * rounding * (1.0 + std::abs(level)), halvings);
}

}  // namespace

Bracket bracket_infimum(const AlignedPiece& piece, const SearchGoal& goal) {
  const auto search = [&](const SearchGoal& to, bool proves) {
    return piece.shared() ? Search<SharedDirections>(piece, to, proves).run() : Search<FourDirections>(piece, to, proves).run();
  };
  int before = 0;
  if (is_proved_at_once(piece, goal.enough)) return {goal.enough, inf, {}, {}, 0};
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
  if (!at && is_proved_at_once(piece, level)) return {level, inf, {}, {}, 0};
  return piece.shared() ? Search<SharedDirections>(piece, goal, true).look(at)
                        : Search<FourDirections>(piece, goal, true).look(at);
}

}  // namespace linkarms
