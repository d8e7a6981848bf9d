#include "psi/attachments.hpp"

#include <algorithm>
#include <array>

#include "pair/isotropic.hpp"

namespace linkarms::psi {
namespace {

/// The least of a block, by several at a time that do not wait for each other; the last block may be shorter.
inline double least_of(const double* values, Index size) {
  if (size < block) return *std::min_element(values, values + size);
  constexpr int at_once = 4;
  std::array<double, at_once> least;
  for (int j = 0; j < at_once; ++j) least[j] = values[j];
  for (int i = at_once; i < block; i += at_once) {
    for (int j = 0; j < at_once; ++j) least[j] = std::min(least[j], values[i + j]);
  }
  return std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
}

}  // namespace

Attachments::Attachments(Index n_arms, Index most_slots, bool closed_form)
    : closed_form_(closed_form),
      most_slots_(std::min({most_slots, Index{64}, n_arms})),
      least_(static_cast<std::size_t>(n_arms)),
      partner_(static_cast<std::size_t>(n_arms), -1),
      in_use_(static_cast<std::size_t>(n_arms)),
      lengths_(static_cast<std::size_t>(n_arms)),
      wide_(lengths_) {}

void Attachments::fill_partners(std::span<const Index> parent) {
  partner_.assign(parent.begin(), parent.end());
  for (std::size_t m = 0; m < parent.size(); ++m) {
    if (parent[m] >= 0 && partner_[parent[m]] < 0) partner_[parent[m]] = static_cast<Index>(m);
  }
}

void Attachments::make(const ClusteredArms& now, const Spreads& spreads, std::span<const Index> parent) {
  const Index n = now.size();
  if (bound_.rows() == 0) {
    slot_ = MatrixOf<std::uint8_t>(n, n);
    slots_ = MatrixOf<Slot>(most_slots_, n);
    bound_ = Matrix(n, n);
    floor_ = Matrix(n, (n + block - 1) / block);
  }
  fill_partners(parent);
  for (Index u = 0; u < n; ++u) attach_row(now, spreads, u);
  made_ = true;
}

void Attachments::attach_row(const ClusteredArms& now, const Spreads& spreads, Index u) {
  if (partner_[u] < 0) {
    least_[u] = inf;
    return;
  }
  if (in_use_[u] == 0) slots_(in_use_[u]++, u).arm = partner_[u];
  for (Index i = 0; i < in_use_[u]; ++i) {
    Slot& slot = slots_(i, u);
    if (!now.together(u, slot.arm)) slot.arm = partner_[u];
    slot.length = now.dist(u, slot.arm);
  }
  weigh_row(now, spreads, u);
}

/// What the attachment of u against b costs, by the closed form.
double Attachments::cost(const ClusteredArms& now, const Spreads& spreads, Index u, Index b, bool row_of_b) const {
  const auto [v, p] = slots_(slot_(u, b), u);
  const auto from_b = [&](Index m) { return row_of_b ? now.dist(b, m) : now.dist(m, b); };
  return shared_cost(p, from_b(u), from_b(v), spreads[u], spreads[v], spreads[b]);
}

/// Find what the attachment of u against b costs at least; where that is near psi and a closed form, what it
/// costs.
///   cost(u,v; u,b) >= (q - p)^2 / (2 (4 i_u + i_v + i_b)),   p = |u v|, q = |u b|
/// Distances from b are taken from its row where that is at hand, else from those of the others.
inline double Attachments::weigh(const ClusteredArms& now, const Spreads& spreads, Index u, Index b, bool row_of_b) {
  const auto [v, p] = slots_(slot_(u, b), u);
  const double q = row_of_b ? now.dist(b, u) : now.dist(u, b);
  const double spread = 2.0 * (4.0 * spreads[u] + spreads[v] + spreads[b]);
  double bound = 0.0;
  if (closed_form_) {
    const double gap = std::max(q * shrink - p, 0.0);
    bound = gap * gap / spread;
    if (bound <= about_) bound = cost(now, spreads, u, b, row_of_b);
  } else {
    const double level = spreads.level(), gap = std::max(q * shrink - p - spreads.slack(), 0.0);
    if (spreads.least() > 0.0) {  // a bound of another level says nothing
      bound = gap * gap > level * room * spread ? level : 0.0;
    } else if (gap > 0.0) {  // (a spread may be zero)
      bound = std::min(gap * gap / spread, level);
    }
  }
  return bound_(u, b) = bound;
}

void Attachments::weigh_row(const ClusteredArms& now, const Spreads& spreads, Index u) {
  if (2 * now.clusters.size(now.clusters.label(u)) > now.size()) {
    bound_foreign(now, spreads, u);
  } else if (closed_form_) {
    bound_all(now, spreads, u, [](double gap, double spread) { return gap * gap / spread; });
  } else if (const double level = spreads.level(); spreads.least() > 0.0) {
    bound_all(now, spreads, u,
              [=, high = level * room](double gap, double spread) { return gap * gap > high * spread ? level : 0.0; });
  } else {
    bound_all(now, spreads, u, [=](double gap, double spread) {
      const double bound = std::min(gap * gap / spread, level);
      return gap > 0.0 ? bound : 0.0;
    });
  }
}

/// A row of which more than half are arms of the cluster of u.
void Attachments::bound_foreign(const ClusteredArms& now, const Spreads& spreads, Index u) {
  std::ranges::fill(floor_.row(u), inf);
  least_[u] = inf;
  for (Index k = 0; k < now.clusters.n_clusters(); ++k) {
    if (k == now.clusters.label(u)) continue;
    for (const Index b : now.clusters.members(k)) lower(now, spreads, u, b, false);
  }
}

/// The same for all other rows: what `weigh` finds, by loops that become vector instructions.
template <class Bound>
void Attachments::bound_all(const ClusteredArms& now, const Spreads& spreads, Index u, const Bound& bound) {
  const Index n = now.size();
  const double *row = now.dist.row(u).data(), *spread = spreads.values().data();
  std::array<double, 64> length, wide;
  for (Index i = 0; i < in_use_[u]; ++i) {
    length[i] = slots_(i, u).length;
    wide[i] = 4.0 * spreads[u] + spreads[slots_(i, u).arm];
  }
  // all of them before any is read: a pair of numbers just written one by one would be waited for
  const std::uint8_t* slots = slot_.row(u).data();
  for (Index b = 0; b < n; ++b) lengths_[b] = length[slots[b]];
  for (Index b = 0; b < n; ++b) wide_[b] = wide[slots[b]];
  const double slack = closed_form_ ? 0.0 : spreads.slack();
  double* found = bound_.row(u).data();
  for (Index b = 0; b < n; ++b) {
    const double gap = std::max(row[b] * shrink - lengths_[b] - slack, 0.0);
    found[b] = bound(gap, 2.0 * (wide_[b] + spread[b]));
  }
  for (const Index b : now.clusters.members(now.clusters.label(u))) found[b] = inf;
  least_[u] = inf;
  for (Index first = 0; first < n; first += block) {
    const Index end = std::min(first + block, n);
    double floor = least_of(found + first, end - first);
    if (closed_form_ && floor <= about_) {
      for (Index b = first; b < end; ++b) {
        if (found[b] <= about_) found[b] = cost(now, spreads, u, b, false);
      }
      floor = least_of(found + first, end - first);
    }
    floor_(u, first / block) = floor;
    least_[u] = std::min(least_[u], floor);
  }
}

/// `weigh`, and take it into account in the bounds of bounds.
void Attachments::lower(const ClusteredArms& now, const Spreads& spreads, Index u, Index b, bool row_of_b) {
  const double value = weigh(now, spreads, u, b, row_of_b);
  double& floor = floor_(u, b / block);
  floor = std::min(floor, value);
  least_[u] = std::min(least_[u], value);
}

/// Make v, which may be another arm or have moved, the arm of a slot of u, and weigh all that are attached to
/// it.
void Attachments::set_slot(const ClusteredArms& now, const Spreads& spreads, Index u, Index slot, Index v) {
  slots_(slot, u) = {v, now.dist(u, v)};
  const auto slots = slot_.row(u);
  const auto labels = now.clusters.labels();
  for (Index b = 0; b < now.size(); ++b) {
    if (slots[b] == slot && labels[b] != labels[u]) lower(now, spreads, u, b, false);
  }
}

void Attachments::move(const ClusteredArms& now, const Spreads& spreads, Index m) {
  const auto labels = now.clusters.labels();
  for (Index a = 0; a < now.size(); ++a) {
    if (labels[a] != labels[m] && partner_[a] >= 0) lower(now, spreads, a, m, true);
  }
  if (partner_[m] < 0) return;
  for (Index slot = 0; slot < in_use_[m]; ++slot) slots_(slot, m).length = now.dist(m, slots_(slot, m).arm);
  weigh_row(now, spreads, m);
  const auto members = now.clusters.members(labels[m]);
  for (const Index u : members) {
    if (u == m) continue;
    if (members.size() == 2) {  // all of its attachments are to m
      attach_row(now, spreads, u);
      continue;
    }
    for (Index slot = 0; slot < in_use_[u]; ++slot) {
      if (slots_(slot, u).arm == m) set_slot(now, spreads, u, slot, m);
    }
  }
}

void Attachments::regroup(const ClusteredArms& now, const Spreads& spreads, const Regrouping& change) {
  fill_partners(now.up);
  for (const Index u : change.alone) attach_row(now, spreads, u);
  for (const BrokenCluster& cluster : change.broken) {
    for (const Index u : cluster.arms) {
      if (partner_[u] < 0) {
        least_[u] = inf;
        continue;
      }
      for (Index slot = 0; slot < in_use_[u]; ++slot) {
        if (!now.together(u, slots_(slot, u).arm)) set_slot(now, spreads, u, slot, partner_[u]);
      }
      const bool in_main = now.clusters.label(u) == cluster.main;
      for (const Index b : in_main ? cluster.left : cluster.arms) {
        if (!now.together(u, b)) lower(now, spreads, u, b, in_main);
      }
    }
  }
}

/// A slot to which u is attached against no foreign arm; negative if there is none.
Index Attachments::unused_slot(const ClusteredArms& now, Index u) const {
  std::uint64_t used = 0;
  for (Index b = 0; b < now.size(); ++b) {
    if (!now.together(u, b)) used |= std::uint64_t{1} << slot_(u, b);
  }
  for (Index slot = 0; slot < most_slots_; ++slot) {
    if ((used >> slot & 1) == 0) return slot;
  }
  return -1;
}

bool Attachments::attach(const ClusteredArms& now, Index u, Index b, Index v) {
  Index slot = 0;
  while (slot < in_use_[u] && slots_(slot, u).arm != v) ++slot;
  if (slot == in_use_[u]) {
    if (slot == most_slots_) slot = unused_slot(now, u);
    if (slot < 0) return false;
    in_use_[u] = std::max(in_use_[u], slot + 1);
    slots_(slot, u) = {v, now.dist(u, v)};
  }
  slot_(u, b) = static_cast<std::uint8_t>(slot);
  return true;
}

std::size_t Attachments::bytes() const {
  return slot_.bytes() + slots_.bytes() + bound_.bytes() + floor_.bytes() +
         least_.size() * (3 * sizeof(double) + 2 * sizeof(Index));
}

}  // namespace linkarms::psi
