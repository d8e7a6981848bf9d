#include "psi/line_psi.hpp"

#include <algorithm>
#include <utility>

#include "family/kl_interval.hpp"
#include "math/constants.hpp"

namespace linkarms {
namespace {

/// How a split is made of the arms that are not shared, from left to right: all from `cut` on are right, all
/// but `cut`, or `cut` alone.
enum class SplitKind { suffix, all_but_one, one_alone };

/// A split of one cluster, as line_psi lists them.
struct Split {
  SplitKind kind;
  Index cut;
  bool shared_right;  ///< where the shared arm goes, if there is one
};

/// Which arms of the cluster are right of the gap; false where one side has none. `rest` are the places of
/// arms that are not shared.
bool assign(const Split& split, Index shared, std::span<const Index> rest, std::vector<bool>& right) {
  Index count = 0;
  const auto others = static_cast<Index>(rest.size());
  for (Index s = 0; s < others; ++s) {
    const bool is_right =
        split.kind == SplitKind::suffix ? s >= split.cut : (s == split.cut) == (split.kind == SplitKind::one_alone);
    right[rest[s]] = is_right;
    count += is_right ? 1 : 0;
  }
  if (shared < 0) return 0 < count && count < others;
  right[shared] = split.shared_right;
  count += split.shared_right ? 1 : 0;
  return 0 < count && count < others + 1;
}

/// The splits to look at, in a fixed order.
std::vector<Split> splits_of(Index others, bool has_shared) {
  std::vector<Split> splits;
  for (int side = 0; side < (has_shared ? 2 : 1); ++side) {
    for (Index cut = 0; cut <= others; ++cut) {
      splits.push_back({SplitKind::suffix, cut, side == 1});
      if (cut == others) continue;
      // an arm has to be alone on one side only where the shared one is on the other
      if (!(has_shared && side == 0)) splits.push_back({SplitKind::all_but_one, cut, side == 1});
      if (!(has_shared && side == 1)) splits.push_back({SplitKind::one_alone, cut, side == 1});
    }
  }
  return splits;
}

/// Where each arm can be at a cost below `level`, and how wide a gap each cluster can then have at most: any
/// split of a cluster parts some two neighbours, and its gap is no wider than they can come apart.
class Reach {
 public:
  Reach(const Line& line, std::span<const std::vector<Index>> sorted, double level) {
    for (Index m = 0; m < line.model.n_arms(); ++m) {
      const double share = level / line.weight[m];
      low_.push_back(kl_interval(line.model.scalar(m), line.theta[m], share, Side::below, 0.01));
      high_.push_back(kl_interval(line.model.scalar(m), line.theta[m], share, Side::above, 0.01));
    }
    for (const std::vector<Index>& arms : sorted) {
      widest_.push_back(-inf);
      for (std::size_t s = 0; s + 1 < arms.size(); ++s) {
        const Index u = arms[s], v = arms[s + 1];
        widest_.back() = std::max({widest_.back(), high_[u] - low_[v], high_[v] - low_[u]});
      }
    }
  }
  [[nodiscard]] bool may_split(std::size_t k, Index a, Index b) const { return widest_[k] >= low_[b] - high_[a]; }

 private:
  std::vector<double> low_, high_, widest_;
};

/// Three arms and more that are not of one shipped family.
bool is_loose(const Model& model, std::span<const Index> arms) {
  if (arms.size() <= 2) return false;
  const std::size_t first = model.scalar(arms[0]).index();
  return std::ranges::any_of(arms, [&](Index m) { return model.scalar(m).index() != first || is<UserFamily>(model.scalar(m)); });
}

}  // namespace

Bounds line_psi(const Line& line, const Clusters& clusters, double floor, double ceiling, MutView lam) {
  const Index n = clusters.n_arms();
  const auto pairs = [&](auto&& visit) {
    for (Index i = 0; i < n; ++i)
      for (Index j = i + 1; j < n; ++j)
        if (!clusters.together(i, j)) line.theta[i] <= line.theta[j] ? visit(i, j) : visit(j, i);
  };
  double upper = ceiling;
  pairs([&](Index a, Index b) {
    const Meeting meeting = meeting_cost(line, a, b, upper);
    if (meeting.cost < upper) {
      upper = meeting.cost;
      std::ranges::copy(line.theta, lam.begin());
      lam[a] = lam[b] = meeting.place;
    }
  });
  std::vector<std::vector<Index>> sorted;
  for (Index k = 0; k < clusters.n_clusters(); ++k) {
    const auto members = clusters.members(k);
    sorted.emplace_back(members.begin(), members.end());
    std::ranges::stable_sort(sorted.back(), {}, [&](Index m) { return line.theta[m]; });
  }
  const Reach reach(line, sorted, upper);
  double lower = upper;
  std::vector<double> point(line.theta.begin(), line.theta.end());
  std::vector<bool> right(static_cast<std::size_t>(n));
  pairs([&](Index a, Index b) {
    for (std::size_t k = 0; k < sorted.size(); ++k) {
      const std::vector<Index>& arms = sorted[k];
      if (!reach.may_split(k, a, b)) continue;
      if (is_loose(line.model, arms)) {
        lower = std::min(lower, floor);
        continue;
      }
      Index shared = -1;
      std::vector<Index> rest;
      for (Index s = 0; s < static_cast<Index>(arms.size()); ++s) {
        if (arms[s] == a || arms[s] == b) {
          shared = s;
        } else {
          rest.push_back(s);
        }
      }
      for (const Split& split : splits_of(static_cast<Index>(rest.size()), shared >= 0)) {
        if (!assign(split, shared, rest, right)) continue;
        const Bounds found = split_cost(line, arms, right, a, b, upper, point);
        lower = std::min(lower, found.lower);
        if (found.upper < upper) {
          upper = found.upper;
          std::ranges::copy(point, lam.begin());
        }
        for (Index m : arms) point[m] = line.theta[m];
        point[a] = line.theta[a];
        point[b] = line.theta[b];
      }
    }
  });
  return {std::min(lower, upper), upper};
}

}  // namespace linkarms
