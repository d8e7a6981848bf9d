#include "evidence/survey.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "evidence/solved.hpp"

namespace linkarms {
namespace {

/// Spreads within this factor are one class; there are at most so many.
constexpr double class_width = 1.3;
constexpr Index most_classes = 12;

/// The least difference of lengths that shows a cost of `level_and_prices`; infinite where that is not a
/// number.
[[nodiscard]] double needed_gap(const SpreadBounds& bound, double level_and_prices, double spread) {
  if (level_and_prices <= 0.0) return -inf;
  const double square = 2.0 * std::max(level_and_prices, bound.least) * spread * (1.0 + sure);
  return square >= 0.0 ? std::sqrt(square) : inf;
}

}  // namespace

void Survey::make(const Situation& now, std::vector<SpreadBounds> bounds, double level) {
  level_ = level;
  bounds_ = std::move(bounds);
  make_trees(now);
  make_classes(now);
  make_table(now);
  make_stars(now);
}

// Prim's algorithm on the lengths that edges need to be clear of a typical pair.
void Survey::make_trees(const Situation& now) {
  const Clusters& clusters = now.partition.clusters();
  const SpreadBounds& bound = bounds_.front();  // (one that speaks of all pairs)
  const auto middle = [](std::vector<double> x) {
    std::ranges::nth_element(x, x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2));
    return x[x.size() / 2];
  };
  const double prices = level_ + bound.constant + 2.0 * middle(bound.price), spreads = 2.0 * middle(bound.spread);
  const auto length = [&](Index u, Index v) {
    const double gap = needed_gap(bound, prices + bound.price[u] + bound.price[v], spreads + bound.spread[u] + bound.spread[v]);
    return now.dist(u, v) + std::max(gap, 0.0);
  };
  edges_.clear();
  first_.assign(1, 0);
  std::vector<double> near;
  std::vector<Index> from, open;
  for (Index k = 0; k < clusters.n_clusters(); ++k) {
    const auto arms = clusters.members(k);
    const auto n = static_cast<Index>(arms.size());
    near.assign(arms.size(), inf);
    from.assign(arms.size(), -1);
    open.resize(arms.size());
    std::iota(open.begin(), open.end(), 0);
    for (Index at = 0; !open.empty();) {
      const Index i = open[at];
      open[at] = open.back();
      open.pop_back();
      const Index up = from[i];
      edges_.push_back({i, up, arms[i], up < 0 ? -1 : arms[up], up < 0 ? 0.0 : now.dist(arms[i], arms[up])});
      at = 0;
      for (Index j = 0; j < static_cast<Index>(open.size()); ++j) {
        const Index other = open[j];
        const double x = length(arms[i], arms[other]);
        if (x < near[other] || from[other] < 0) {
          near[other] = x;
          from[other] = i;
        }
        if (near[other] < near[open[at]]) at = j;
      }
    }
    first_.push_back(first_.back() + static_cast<std::size_t>(n));
  }
}

void Survey::make_classes(const Situation& now) {
  const std::vector<double>& spread = bounds_.front().spread;
  std::vector<Index> order(spread.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](Index i, Index j) { return spread[i] != spread[j] ? spread[i] < spread[j] : i < j; });
  // equal steps of the logarithm, or wider ones where there would be too many
  const double low = std::max(spread[order.front()], 1e-300), high = std::max(spread[order.back()], low);
  const double step = std::max(std::log(class_width), std::log(high / low) / most_classes * (1.0 + 1e-9));
  class_.assign(spread.size(), 0);
  n_classes_ = 0;
  Index last = -1;
  for (const Index m : order) {
    const auto group = static_cast<Index>(std::log(std::max(spread[m], low) / low) / step);
    if (group != last) ++n_classes_;
    last = group;
    class_[m] = n_classes_ - 1;
  }
  const auto n = static_cast<std::size_t>(n_classes_);
  widest_.clear();
  for (const SpreadBounds& bound : bounds_) {
    SpreadBounds& widest =
        widest_.emplace_back(SpreadBounds{std::vector(n, 0.0), std::vector(n, -inf), bound.least, bound.constant, bound.shared});
    for (Index m = 0; m < now.samples.n_arms(); ++m) {
      widest.spread[class_[m]] = std::max(widest.spread[class_[m]], bound.spread[m]);
      widest.price[class_[m]] = std::max(widest.price[class_[m]], bound.price[m]);
    }
  }
}

bool Survey::is_free_spoke(const std::vector<SpreadBounds>& pair, Index near, Index far, const std::vector<SpreadBounds>& arms,
                           Index v, double level) {
  for (std::size_t s = 0; s < pair.size(); ++s) {
    // (summed as `total_of` does, so that equal evidence is not lost to rounding)
    if (-(pair[s].price[near] + arms[s].price[v] + pair[s].price[far]) >= level + pair[s].constant) return true;
  }
  return false;
}

bool Survey::is_spoke(const Situation& now, Index hub, Index far, Index v, double level) const {
  if (is_free_spoke(bounds_, hub, far, bounds_, v, level)) return true;
  const double gap = now.dist(hub, far) - now.dist(hub, v) * (1.0 + 1e-14);
  return gap > 0.0 && std::ranges::any_of(bounds_, [&](const SpreadBounds& bound) {
           const View p = bound.price, s = bound.spread;
           return gap >= needed_gap(bound, level + bound.constant + p[hub] + p[v] + p[far], 4.0 * s[hub] + s[v] + s[far]);
         });
}

// The longest spoke and the widest arm of the cluster are those that count.
void Survey::make_stars(const Situation& now) {
  const Clusters& clusters = now.partition.clusters();
  const auto n = static_cast<std::size_t>(n_classes_);
  star_.assign(static_cast<std::size_t>(clusters.n_arms()) * n, inf);
  std::vector<double> longest(static_cast<std::size_t>(clusters.n_arms()), 0.0);
  for (Index hub = 0; hub < clusters.n_arms(); ++hub) {
    for (const Index m : clusters.members(clusters.label(hub))) longest[hub] = std::max(longest[hub], now.dist(hub, m));
  }
  for (Index k = 0; k < clusters.n_clusters(); ++k) {
    const auto arms = clusters.members(k);
    for (std::size_t s = 0; s < bounds_.size(); ++s) {
      const SpreadBounds& bound = bounds_[s];
      double spread = 0.0, price = -inf;
      for (const Index m : arms) {
        spread = std::max(spread, bound.spread[m]);
        price = std::max(price, bound.price[m]);
      }
      for (const Index hub : arms) {
        for (std::size_t c = 0; c < n; ++c) {
          const double prices = level_ + bound.constant + bound.price[hub] + price + widest_[s].price[c];
          const double gap = needed_gap(bound, prices, 4.0 * bound.spread[hub] + spread + widest_[s].spread[c]);
          double& star = star_[static_cast<std::size_t>(hub) * n + c];
          star = std::min(star, longest[hub] * (1.0 + 1e-14) + std::max(gap, 0.0));
        }
      }
    }
  }
}

/// From which length on pairs of arms of two classes are clear of cluster k at one of the c. `own`: the first
/// arm may be of the cluster.
double Survey::needed(Index k, Index near, Index far, bool own) const {
  double least = inf;
  std::vector<const TreeEdge*> edges;
  for (const TreeEdge& edge : tree(k)) {
    if (edge.parent < 0) continue;
    if (own && is_free_spoke(widest_, near, far, bounds_, edge.u, level_) &&
        is_free_spoke(widest_, near, far, bounds_, edge.v, level_))
      continue;
    edges.push_back(&edge);
  }
  for (std::size_t s = 0; s < bounds_.size(); ++s) {
    const SpreadBounds &bound = bounds_[s], &widest = widest_[s];
    if (bound.shared) continue;
    const double prices = level_ + bound.constant + widest.price[near] + widest.price[far];
    // a shared arm counts four times: once with the edge, once with the pair, twice besides
    const double spreads = (own ? 3.0 : 1.0) * widest.spread[near] + widest.spread[far];
    double most = -inf;
    for (const TreeEdge* edge : edges) {
      const double gap = needed_gap(bound, prices + bound.price[edge->u] + bound.price[edge->v],
                                    spreads + bound.spread[edge->u] + bound.spread[edge->v]);
      most = std::max(most, edge->length * (1.0 + 1e-14) + gap);
    }
    least = std::min(least, most);
  }
  return least;
}

void Survey::make_table(const Situation& now) {
  const Index n_clusters = now.partition.clusters().n_clusters(), n = n_classes_;
  table_.assign(static_cast<std::size_t>(n_clusters) * 2 * n * n, -inf);
  top_.assign(static_cast<std::size_t>(n) * n, -inf);
  auto entry = table_.begin();
  for (Index k = 0; k < n_clusters; ++k) {
    for (const bool own : {false, true}) {
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j, ++entry) {
          if (tree(k).size() < 2) continue;
          *entry = !own && j < i ? *(entry - i * n - j + j * n + i) : needed(k, i, j, own);
          top_[i * n + j] = std::max(top_[i * n + j], *entry);
          top_[j * n + i] = std::max(top_[j * n + i], *entry);
        }
      }
    }
  }
}

double Survey::least_level() const {
  double most = -inf;
  for (const SpreadBounds& bound : bounds_) {
    if (!bound.shared) most = std::max(most, -bound.constant - largest_share(0.0, bound.price));
  }
  return most;
}

std::vector<Candidate> Survey::candidates(const Situation& now, std::size_t most) const {
  const Clusters& clusters = now.partition.clusters();
  const Index n_arms = clusters.n_arms(), n_clusters = clusters.n_clusters(), n = n_classes_;
  std::vector<Candidate> out;
  for (Index a = 0; a < n_arms; ++a) {
    const View row = now.dist.row(a);
    for (Index b = a + 1; b < n_arms; ++b) {
      const double q = row[b];
      const Index i = class_[a], j = class_[b];
      if (q >= top_[i * n + j] || clusters.together(a, b)) continue;
      for (Index k = 0; k < n_clusters; ++k) {
        if (tree(k).size() < 2) continue;
        const auto at = [&](Index own, Index x, Index y) { return table_[((k * 2 + own) * n + x) * n + y]; };
        const double least = clusters.label(a) == k ? at(1, i, j) : clusters.label(b) == k ? at(1, j, i) : at(0, i, j);
        const auto star = [&](Index hub, Index c) { return clusters.label(hub) == k ? star_[hub * n + c] : inf; };
        if (q >= least || q >= star(a, j) || q >= star(b, i)) continue;
        out.push_back({a, b, k, least - q});
        if (out.size() >= most) return out;
      }
    }
  }
  return out;
}

bool Survey::is_clear(const TreeEdge& edge, double q, Index a, Index b, double level) const {
  const double gap = q - edge.length;
  const Index shared = edge.u == a || edge.u == b ? edge.u : edge.v == a || edge.v == b ? edge.v : -1;
  for (const SpreadBounds& bound : bounds_) {
    if (bound.shared && shared < 0) continue;
    const View s = bound.spread, p = bound.price;
    double prices = p[edge.u] + p[edge.v] + p[a] + p[b], spreads = s[edge.u] + s[edge.v] + s[a] + s[b];
    if (shared >= 0) {
      prices -= p[shared];
      spreads += 2.0 * s[shared];
    }
    prices += bound.constant;
    if (level + prices <= 0.0) return true;
    if (gap > 0.0 && gap * gap >= 2.0 * std::max(level + prices, bound.least) * spreads * (1.0 + sure)) return true;
  }
  return false;
}

double Survey::lower(const Situation& now, const Witness& w, double level) const {
  const Witness o = w.oriented();
  const double gap = std::max(now.dist(o.a, o.b) - now.dist(o.u, o.v), 0.0);
  double most = -inf;
  for (const SpreadBounds& bound : bounds_) {
    if (bound.shared && !o.shared()) continue;
    const View s = bound.spread;
    const double spreads = s[o.u] + s[o.v] + s[o.b] + s[o.a] + (o.shared() ? 2.0 * s[o.u] : 0.0);
    const double cost = gap * gap / (2.0 * spreads * (1.0 + sure));
    const double paid = total_of(bound.price, o) + bound.constant;
    most = std::max(most, (cost >= bound.least ? cost : 0.0) - paid);
  }
  return std::min(most - sure * std::abs(most), level);
}

Index Survey::split(const Situation& now, Index k, Index a, Index b, double level, std::vector<Index>& part) const {
  const auto edges = tree(k);
  const Clusters& clusters = now.partition.clusters();
  const double q = now.dist(a, b);
  const Index hub = clusters.label(a) == k ? a : clusters.label(b) == k ? b : -1, far = hub == a ? b : a;
  // 0 is the part of the hub, if there is one; an arm whose edge is not clear begins a part, unless it is a
  // spoke
  const auto spoke = [&](Index m) { return hub >= 0 && (m == hub || is_spoke(now, hub, far, m, level)); };
  part.resize(edges.size());
  std::vector<Index> joins;  // for each part, the one that it turned out to belong to
  if (hub >= 0) joins.push_back(0);
  for (const TreeEdge& edge : edges) {
    Index& own = part[edge.place];
    own = edge.parent >= 0 && is_clear(edge, q, a, b, level) ? joins[part[edge.parent]] : -1;
    if (spoke(edge.u)) {
      if (own > 0) joins[own] = 0;
      own = 0;
    } else if (own < 0) {
      own = static_cast<Index>(joins.size());
      joins.push_back(own);
    }
  }
  // number those that are left
  Index parts = 0;
  for (std::size_t p = 0; p < joins.size(); ++p) joins[p] = joins[p] == static_cast<Index>(p) ? parts++ : joins[joins[p]];
  for (Index& p : part) p = joins[p];
  return parts;
}

}  // namespace linkarms
