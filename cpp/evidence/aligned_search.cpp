#include "evidence/aligned_search.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <queue>

#include "evidence/aligned_directions.hpp"
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
  Search(const AlignedPiece& piece, const SearchGoal& goal)
      : piece_(piece),
        goal_(goal),
        geometry_(piece),
        isotropic_(isotropic_part(piece, geometry_.pairs())),
        dual_(piece, isotropic_.along, isotropic_.mu),
        best_(dual_) {}
  Bracket run();

 private:
  /// What is enough for a box.
  [[nodiscard]] double enough() const { return std::min(found_.upper, best_value_) - goal_.gap; }
  [[nodiscard]] bool is_below() const { return found_.upper < goal_.too_little; }
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
  void visit(DirectionBox box);

  const AlignedPiece& piece_;
  SearchGoal goal_;
  Geometry geometry_;
  IsotropicPart isotropic_;
  AlignedDual dual_,
      best_;  ///< for the directions that were solved last, and for those with the smallest value
  Directions best_at_{};
  double best_value_ = inf;
  std::priority_queue<DirectionBox, std::vector<DirectionBox>, Lower> open_;
  Bracket found_;
  double closed_ = inf;  ///< the smallest bound of what was enough
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
  if (dual_.primal() < found_.upper) {
    Matrix lambda = geometry_.lambda(dual_, at);
    const double there = piece_.log_evidence(lambda);
    if (there < found_.upper) {
      found_.upper = there;
      found_.lambda = std::move(lambda);
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
void Search<Geometry>::visit(DirectionBox box) {
  // from the point of the box that is nearest to the smallest value: there the box is likely to have its own
  Directions at;
  for (std::size_t i = 0; i < 3; ++i) at[i] = std::clamp(best_at_[i], box.low[i], box.high[i]);
  const bool at_best = at == best_at_;
  const double value = at_best ? best_value_ : solve(at);
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
Bracket Search<Geometry>::run() {
  if (isotropic_.value >= goal_.enough) {
    found_.lower = isotropic_.value;
    return std::move(found_);
  }
  solve(geometry_.start());
  double turn = pi;
  if (piece_.dimension() > 1) {
    if (!is_below()) {
      const double scale = 1.0 / (10.0 + 2.0 * dual_.multipliers().mu * geometry_.pairs().q);
      descend(
          geometry_.first(dual_), scale, [&](const Vector3& x) { return is_below() ? -inf : solve(geometry_.directions(x)); },
          [&](const Vector3& x) { return geometry_.gradient(dual_, x); },
          [&](double) { return is_below() ? inf : 10.0 * goal_.gap; });
    }
    turn = largest_turn();
    if (turn < pi) closed_ = enough();
  }
  for (const DirectionBox& box : geometry_.everything(turn)) open_.push(box);
  while (!open_.empty() && found_.boxes < goal_.boxes && !is_below() && open_.top().bound < enough() && lower() < goal_.enough) {
    const DirectionBox box = open_.top();
    open_.pop();
    visit(box);
  }
  found_.lower = lower();
  return std::move(found_);
}

}  // namespace

Bracket bracket_infimum(const AlignedPiece& piece, const SearchGoal& goal) {
  return piece.shared() ? Search<SharedDirections>(piece, goal).run() : Search<FourDirections>(piece, goal).run();
}

}  // namespace linkarms
