// The rises of one arm of unknown variance for every c of the grid, by their values at places that are tabled once.
//
// Between two places the rises are taken as linear in t: since they are concave, that is never above them. Places are the
// numbers 2^e (1 + i/16), so that neighbours are at most a sixteenth apart and are found without a logarithm. With L the rise
// that matters and A the shape of the prior after the samples, what is lost is about (1/16)^2 / 8 min(A, L^2 / A): below
// 0.0005 L.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "family/variance_rise.hpp"

namespace linkarms {

class RiseTable {
 public:
  RiseTable() = default;
  explicit RiseTable(std::vector<VarianceRise> rises) : rises_(std::move(rises)) {}

  /// The rises at t >= 0, from below: one for each c.
  void at(double t, std::span<double> out) {
    const Between place = between(t);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = place.first * place.low[j] + place.second * place.high[j];
  }

  /// Their sum there, each times its share.
  [[nodiscard]] double sum_at(double t, std::span<const double> share) {
    const Between place = between(t);
    double low = 0.0, high = 0.0;
    for (std::size_t j = 0; j < share.size(); ++j) {
      low += share[j] * place.low[j];
      high += share[j] * place.high[j];
    }
    return place.first * low + place.second * high;
  }

 private:
  static constexpr double least = 0x1p-60, most = 0x1p60;
  static constexpr int shift = 48;  ///< leaves the exponent and four bits of the fraction
  [[nodiscard]] static std::int64_t slot_of(double t) { return std::bit_cast<std::int64_t>(t) >> shift; }
  [[nodiscard]] static double place(std::int64_t slot) { return std::bit_cast<double>(slot << shift); }

  /// The rises at the places around some t, and how much of each counts.
  struct Between {
    const double *low, *high;
    double first, second;
  };
  [[nodiscard]] Between between(double t) {
    if (!(t >= least)) {  // (the rise is 0 at 0)
      const double* const row = values(slot_of(least));
      return {row, row, 0.0, t > 0.0 ? t / least : 0.0};
    }
    t = std::min(t, most);
    const std::int64_t slot = slot_of(t);
    const double* const low = pair(slot);
    const double start = place(slot), share = (t - start) / (place(slot + 1) - start);
    return {low, low + rises_.size(), 1.0 - share, share};
  }

  /// The rises at a place and at the next, one row each.
  [[nodiscard]] const double* pair(std::int64_t slot) {
    const auto at = static_cast<std::size_t>(slot - first_);
    if (slot >= first_ && at + 1 < known_.size() && known_[at] != 0 && known_[at + 1] != 0)
      return values_.data() + at * rises_.size();
    static_cast<void>(values(slot + 1));  // (may move the other)
    return values(slot);
  }
  /// The rises at a place.
  [[nodiscard]] const double* values(std::int64_t slot) {
    const auto n = static_cast<std::int64_t>(rises_.size());
    if (known_.empty()) first_ = slot;
    const auto size = static_cast<std::int64_t>(known_.size());
    if (slot < first_) {
      known_.insert(known_.begin(), static_cast<std::size_t>(first_ - slot), 0);
      values_.insert(values_.begin(), static_cast<std::size_t>((first_ - slot) * n), 0.0);
      first_ = slot;
    } else if (slot >= first_ + size) {
      known_.resize(static_cast<std::size_t>(slot - first_ + 1), 0);
      values_.resize(known_.size() * rises_.size(), 0.0);
    }
    const auto at = static_cast<std::size_t>(slot - first_);
    double* const own = values_.data() + at * rises_.size();
    if (known_[at] == 0) {
      known_[at] = 1;
      for (std::size_t j = 0; j < rises_.size(); ++j) own[j] = rises_[j].rise(place(slot));
    }
    return own;
  }

  std::vector<VarianceRise> rises_;
  std::int64_t first_ = 0;           ///< the slot of the first place that is kept
  std::vector<std::uint8_t> known_;  ///< whether it has been computed, one for each place from the first
  std::vector<double> values_;       ///< one row for each place
};

}  // namespace linkarms
