#include "psi/line_split.hpp"

#include <algorithm>
#include <array>

#include "math/constants.hpp"
#include "pair/linear.hpp"

namespace linkarms {
namespace {

/// Whether the divergence of arm m is convex as far up as it can go at a cost below `level`.
bool convex_up_to(const Line& line, Index m, double level) {
  const double bend = inflection(line.model.scalar(m), line.theta[m]);
  return bend == inf || line.cost(m, bend) >= level;
}

Number number_of(const Line& line, Index m, double kappa) {
  return {line.theta[m], line.weight[m], kappa, &line.model.scalar(m), inf, line.theta[m]};
}

/// By how much the known parameter of a family scales its divergence, and the family with that parameter 1.
double scale_of(const Scalar& f) {
  if (const auto* g = std::get_if<Gaussian>(&f)) return 1.0 / g->variance;
  if (const auto* g = std::get_if<GammaRate>(&f)) return g->shape;
  if (const auto* g = std::get_if<GammaMean>(&f)) return g->shape;
  return 1.0;
}
Scalar unit_family(const Scalar& f) {
  if (is<Gaussian>(f)) return Gaussian{1.0};
  if (is<GammaRate>(f)) return GammaRate{1.0};
  if (is<GammaMean>(f)) return GammaMean{1.0};
  return f;
}

/// Arms of one family in one place: one arm with their weights together, and the sum of w KL at its parameter
/// that is left over.
class Pool {
 public:
  void clear() { arms_.clear(); }
  void join(Index m) { arms_.push_back(m); }
  [[nodiscard]] bool empty() const { return arms_.empty(); }
  /// As one number with the coefficient kappa; `rest` becomes what is left over. Valid until the pool
  /// changes.
  [[nodiscard]] Number as_number(const Line& line, double kappa, double& rest) {
    rest = 0.0;
    const Index first = arms_.front();
    if (arms_.size() == 1) return number_of(line, first, kappa);
    const bool rate = is<GammaRate>(line.model.scalar(first));
    const auto parameter = [&](Index m) { return rate ? 1.0 / line.theta[m] : line.theta[m]; };
    const double origin = parameter(first);  // differences from it keep their precision
    double total = 0.0, mean = 0.0;
    for (Index m : arms_) {
      const double w = line.weight[m] * scale_of(line.model.scalar(m));
      total += w;
      mean += w * (parameter(m) - origin);
    }
    mean = origin + mean / total;
    if (rate) mean = 1.0 / mean;
    family_ = unit_family(line.model.scalar(first));
    for (Index m : arms_) rest += line.cost(m, mean);
    return {mean, total, kappa, &family_, inf, mean};
  }

 private:
  std::vector<Index> arms_;
  Scalar family_;
};

}  // namespace

Meeting meeting_cost(const Line& line, Index a, Index b, double level) {
  std::array<Number, 2> numbers{number_of(line, a, 1.0), number_of(line, b, -1.0)};
  static_cast<void>(linear_cost(numbers, level));
  const double place = numbers[0].lam;
  return {line.cost(a, place) + line.cost(b, place), place};
}

Bounds split_cost(const Line& line, std::span<const Index> cluster, const std::vector<bool>& right, Index a, Index b,
                  double level, MutView lam) {
  const auto n = static_cast<Index>(cluster.size());
  Index shared = -1;
  bool convex = convex_up_to(line, a, level);
  for (Index i = 0; i < n; ++i) {
    if (cluster[i] == a || cluster[i] == b) shared = i;
    if (right[i]) convex = convex && convex_up_to(line, cluster[i], level);
  }
  const int home = shared >= 0 && right[shared] ? 1 : 0;
  const auto on_right = static_cast<Index>(std::count(right.begin(), right.begin() + n, true));
  const bool lone = shared >= 0 && on_right == (home == 1 ? 1 : n - 1);
  const double pull = shared >= 0 && cluster[shared] == a ? 1.0 : -1.0;
  std::array<Pool, 2> pools;
  std::array<Number, 4> numbers;
  double lower = -1.0;
  std::array<Index, 2> unpooled{-1, -1};  // which of a and b are numbers of their own, from the third on
  std::size_t count = 2;
  bool joined = lone;  // whether the shared arm is in the pool of its side
  while (true) {
    for (Pool& pool : pools) pool.clear();
    if (joined) pools[home].join(cluster[shared]);
    numbers[0].lam = inf;
    numbers[1].lam = -inf;
    Index left = n - 1, following = 0;  // the next arm of L and of R to join, from the gap outwards
    while (true) {
      while (left >= 0 && (right[left] || left == shared)) --left;
      while (following < n && (!right[following] || following == shared)) ++following;
      bool grown = false;
      if (left >= 0 && (pools[0].empty() || line.theta[cluster[left]] > numbers[0].lam)) {
        pools[0].join(cluster[left--]);
        grown = true;
      }
      if (following < n && (pools[1].empty() || line.theta[cluster[following]] < numbers[1].lam)) {
        pools[1].join(cluster[following++]);
        grown = true;
      }
      if (!grown) break;
      double value = 0.0;
      for (int side = 0; side < 2; ++side) {
        const double kappa = (side == 1 ? 1.0 : -1.0) + (joined && side == home ? pull : 0.0);
        double rest = 0.0;
        numbers[side] = pools[side].as_number(line, kappa, rest);
        value += rest;
      }
      count = 2;
      for (Index m : {a, b}) {
        if (joined && m == cluster[shared]) continue;
        unpooled[count - 2] = m;
        numbers[count++] = number_of(line, m, m == a ? 1.0 : -1.0);
      }
      value += linear_cost(std::span(numbers).first(count), level - value);
      if (lower < 0.0 || convex) lower = value;
      if (value >= level) return {lower, inf};
    }
    if (shared < 0 || joined) break;
    const double at = numbers[cluster[shared] == a ? 2 : 3].lam;
    if (home == 0 ? at <= numbers[0].lam : at >= numbers[1].lam) break;
    joined = true;
  }
  const double x = numbers[0].lam, y = numbers[1].lam;
  if (y < x) return {convex ? level : lower, inf};
  for (std::size_t i = 2; i < count; ++i) lam[unpooled[i - 2]] = numbers[i].lam;
  for (Index i = 0; i < n; ++i) {
    const Index m = cluster[i];
    if (i != shared) {
      lam[m] = right[i] ? std::max(line.theta[m], y) : std::min(line.theta[m], x);
    } else if (joined) {
      lam[m] = right[i] ? y : x;
    }
  }
  double cost = 0.0;
  for (Index m : cluster) cost += line.cost(m, lam[m]);
  for (Index m : {a, b})
    if (shared < 0 || m != cluster[shared]) cost += line.cost(m, lam[m]);
  return {lower, cost};
}

}  // namespace linkarms
