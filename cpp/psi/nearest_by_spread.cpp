#include "psi/nearest_by_spread.hpp"

#include <algorithm>
#include <utility>

namespace linkarms::psi {
namespace {

/// Ratio of the largest spreads of two classes that follow each other.
constexpr double ratio = 1.25;

}  // namespace

NearestBySpread::NearestBySpread(Index n_arms, Index n_classes)
    : near_(n_classes, n_arms, inf),
      class_(static_cast<std::size_t>(n_arms)),
      found_at_(static_cast<std::size_t>(n_arms), -1),
      top_(static_cast<std::size_t>(n_classes), -1.0),
      nearest_(top_),
      kept_(static_cast<std::size_t>(n_arms)) {}

Index NearestBySpread::find_class(double spread) const {
  Index c = 0;
  for (double begin = widest_made_; c < n_classes() - 1 && spread * ratio <= begin; begin /= ratio) ++c;
  return c;
}

void NearestBySpread::refresh(const ClusteredArms& now, Index a) {
  if (std::exchange(found_at_[a], changes_) == changes_) return;
  std::ranges::fill(nearest_, inf);
  // a branch that is seldom taken: what is foreign is chosen without one
  const double* row = now.dist.row(a).data();
  const Index *labels = now.clusters.labels().data(), *classes = class_.data(), own = labels[a];
  double* nearest = nearest_.data();
  for (Index b = 0; b < now.size(); ++b) {
    const double q = labels[b] != own ? row[b] : inf;
    if (q < nearest[classes[b]]) nearest[classes[b]] = q;
  }
  for (Index c = 0; c < n_classes(); ++c) near_(c, a) = nearest[c];
}

/// Take the distances of all foreign arms from m into account.
void NearestBySpread::lower(const ClusteredArms& now, Index m) {
  const Index n = now.size(), own = now.clusters.label(m);
  const double* row = now.dist.row(m).data();
  double *bounds = near_.row(class_[m]).data(), *kept = kept_.data();
  const auto members = now.clusters.members(own);
  if (2 * now.clusters.size(own) > n) {
    for (Index k = 0; k < now.clusters.n_clusters(); ++k) {
      if (k == own) continue;
      for (const Index a : now.clusters.members(k)) bounds[a] = std::min(bounds[a], row[a]);
    }
    return;
  }
  // of all arms, without a branch; those of the own cluster are put back
  for (std::size_t i = 0; i < members.size(); ++i) kept[i] = bounds[members[i]];
  for (Index a = 0; a < n; ++a) bounds[a] = std::min(bounds[a], row[a]);
  for (std::size_t i = 0; i < members.size(); ++i) bounds[members[i]] = kept[i];
}

void NearestBySpread::make(const ClusteredArms& now, const Spreads& spreads) {
  ++changes_;
  widest_made_ = *std::max_element(spreads.values().begin(), spreads.values().end());
  for (Index m = 0; m < now.size(); ++m) class_[m] = find_class(spreads[m]);
  std::ranges::fill(near_.values(), inf);
  for (Index m = 0; m < now.size(); ++m) lower(now, m);
  std::ranges::fill(found_at_, changes_);
  made_ = true;
}

void NearestBySpread::move(const ClusteredArms& now, const Spreads& spreads, Index m) {
  ++changes_;
  class_[m] = find_class(spreads[m]);
  lower(now, m);
  refresh(now, m);
}

void NearestBySpread::regroup(const ClusteredArms& now, const Regrouping& change) {
  ++changes_;
  change.parted(now.clusters, [&](Index y, Index z) {
    const double q = now.dist(y, z);
    near_(class_[z], y) = std::min(near_(class_[z], y), q);
    near_(class_[y], z) = std::min(near_(class_[y], z), q);
  });
}

void NearestBySpread::fit(const ClusteredArms& now, const Spreads& spreads) {
  const auto find_tops = [&] {
    std::fill(top_.begin(), top_.end(), -1.0);
    for (Index m = 0; m < now.size(); ++m) {  // (a branch that is seldom taken)
      if (spreads[m] > top_[class_[m]]) top_[class_[m]] = spreads[m];
    }
    widest_ = *std::max_element(top_.begin(), top_.end());
  };
  find_tops();
  if (n_classes() == 1 || widest_ >= 0.5 * widest_made_) return;
  make(now, spreads);
  find_tops();
}

bool NearestBySpread::row_crosses(const Spreads& spreads, Index a, double p, double r, double twice) const {
  for (Index c = 0; c < n_classes(); ++c) {
    if (top_[c] >= 0.0 && crosses(near_(c, a), spreads[a] + top_[c], p, r, twice)) return true;
  }
  return false;
}

/// `row_crosses` for any of the `block` arms from `first` on.
bool NearestBySpread::block_crosses(const ClusteredArms& now, const Spreads& spreads, Index first, double p, double r,
                                    double twice) const {
  const auto any = [&](const double* nearest, double top) {
    const double* spread = spreads.values().data() + first;
    int hits = 0;
    for (int j = 0; j < block; ++j) hits += crosses(nearest[j], spread[j], p, r + top, twice);
    return hits > 0;
  };
  if (!any(now.nearest.data() + first, widest_)) return false;
  for (Index c = 0; c < n_classes(); ++c) {
    if (top_[c] >= 0.0 && any(near_.row(c).data() + first, top_[c])) return true;
  }
  return false;
}

Index NearestBySpread::next_crossing(const ClusteredArms& now, const Spreads& spreads, Index a, Index from, double p, double r,
                                     double twice) {
  const Index n = now.size(), *labels = now.clusters.labels().data(), own = labels[a];
  const double *row = now.dist.row(a).data(), *spread = spreads.values().data(), here = spread[a];
  const auto reaches = [=](Index b) { return (labels[b] != own) & crosses(row[b], here + spread[b], p, r, twice); };
  for (; from + block <= n; from += block) {
    int hits = 0;
    for (Index b = from; b < from + block; ++b) hits += reaches(b);
    if (hits > 0) break;
  }
  while (from < n && !reaches(from)) ++from;
  return from;
}

bool NearestBySpread::is_crossed(const ClusteredArms& now, const Spreads& spreads, Index z, Index w, double twice) {
  const Index n = now.size();
  const double p = now.dist(z, w) + spreads.slack(), r = spreads[z] + spreads[w];
  for (Index first = 0; first < n; first += block) {
    if (first + block <= n && !block_crosses(now, spreads, first, p, r, twice)) continue;
    for (Index a = first; a < std::min(first + block, n); ++a) {
      if (a == z || a == w || !row_crosses(spreads, a, p, r, twice)) continue;
      refresh(now, a);
      if (!row_crosses(spreads, a, p, r, twice)) continue;
      Index b = next_crossing(now, spreads, a, 0, p, r, twice);
      while (b == z || b == w) b = next_crossing(now, spreads, a, b + 1, p, r, twice);
      if (b < n) return true;
    }
  }
  return false;
}

}  // namespace linkarms::psi
