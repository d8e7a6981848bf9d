// The evidence of three or four arms of unknown variance as a function of their forms: one per arm, or one per coordinate.
//
//   E = sum_j w_j (s exp(sum_m l_mj) + (1 - s) mean_m exp(l_mj)),   l_mj = sum_k rise_mj(t_mk) - price_mj
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "evidence/reach_search.hpp"
#include "evidence/rise_table.hpp"

namespace linkarms {

class VarianceAverage {
 public:
  /// One table per arm, which must outlive it, for `per` forms each. The logarithms of the weights less the prices: of all arms
  /// together, one for each c, and of every arm alone, one row per arm.
  VarianceAverage(std::span<RiseTable* const> tables, std::size_t per, std::vector<double> log_all, std::vector<double> log_alone)
      : n_arms_(tables.size()), per_(per), n_(log_all.size()), log_all_(std::move(log_all)), log_alone_(std::move(log_alone)) {
    for (std::size_t i = 0; i < n_arms_; ++i) {
      tables_[i] = tables[i];
      for (std::size_t j = 0; j < n_; ++j) {
        const double own = std::exp(log_alone_[i * n_ + j]);
        with_.push_back(own + std::exp(log_all_[j]));
        for (std::size_t k = 0; k < n_arms_; ++k) without_[k] += k == i ? 0.0 : own;
      }
    }
  }

  [[nodiscard]] std::size_t n_scales() const { return n_; }
  /// The rises of the i-th form at t = x^2, one for each c.
  void rises(std::size_t i, double x, std::span<double> out) { tables_[i / per_]->at(x * x, out); }

  /// Their sum, each times its share.
  [[nodiscard]] double rise(std::size_t i, double x, std::span<const double> share) {
    return tables_[i / per_]->sum_at(x * x, share);
  }

  /// log E where the i-th form is at x and all others are 0.
  [[nodiscard]] double log_evidence_of(std::size_t i, double x) {
    part_.resize(n_);
    rises(i, x, part_);
    const double top = *std::ranges::max_element(part_);
    const double* const with = with_.data() + i / per_ * n_;
    double sum = without_[i / per_] * std::exp(-top);
    for (std::size_t j = 0; j < n_; ++j) sum += with[j] * std::exp(part_[j] - top);
    return top + std::log(sum);
  }

  /// log E from the rises, one row per form; and of each rise, the share of the parts that it is in.
  [[nodiscard]] double log_evidence(std::span<const double> rise, std::span<double> share) {
    const std::size_t size = n_ * (n_arms_ + 1);
    part_.resize(size);
    double top = -inf;
    for (std::size_t j = 0; j < n_; ++j) {
      double total = log_all_[j];
      for (std::size_t i = 0; i < n_arms_; ++i) {
        double own = rise[i * per_ * n_ + j];
        for (std::size_t k = 1; k < per_; ++k) own += rise[(i * per_ + k) * n_ + j];
        total += own;
        top = std::max(top, part_[i * n_ + j] = own + log_alone_[i * n_ + j]);
      }
      top = std::max(top, part_[n_arms_ * n_ + j] = total);
    }
    double sum = 0.0;
    for (double& x : part_) sum += x = x > top - negligible ? std::exp(x - top) : 0.0;
    const double* const all = part_.data() + n_arms_ * n_;
    for (std::size_t form = 0; form < n_arms_ * per_; ++form) {
      const double* const own = part_.data() + form / per_ * n_;
      for (std::size_t j = 0; j < n_; ++j) share[form * n_ + j] = (own[j] + all[j]) / sum;
    }
    return top + std::log(sum);
  }

 private:
  /// Parts that are so much smaller than the largest are left out: E is a little larger.
  static constexpr double negligible = 12.0;

  std::size_t n_arms_, per_, n_;
  std::array<RiseTable*, 4> tables_{};
  std::vector<double> log_all_, log_alone_, part_;
  std::vector<double> with_;         ///< weights of the parts in which an arm is, at each c, one row per arm
  std::array<double, 4> without_{};  ///< E of the parts in which it is not, where the others have not moved
};

}  // namespace linkarms
