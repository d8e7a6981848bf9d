// The three or four arms of a pair problem in d >= 2, and points where they might go.
#pragma once

#include <array>

#include "family/model.hpp"
#include "pair/problem.hpp"

namespace linkarms {

/// The arms u, v, b of a pair problem, and a unless it is u, in this order. A point has one row for each.
class MovingArms {
 public:
  struct One {
    const Arm* arm;
    View theta;
    double weight;
  };

  MovingArms(const Model& model, const Weighted& at, const Witness& w) : index_{w.u, w.v, w.b, w.a}, size_(w.shared() ? 3 : 4) {
    for (Index i = 0; i < size_; ++i) {
      const Index m = index_[i];
      arms_[i] = {&model.arm(m), at.theta.row(m), at.weight[m]};
    }
  }

  static constexpr Index u = 0, v = 1, b = 2;
  /// The row of arm a.
  [[nodiscard]] Index a() const { return size_ == 4 ? 3 : u; }
  [[nodiscard]] bool shared() const { return size_ == 3; }
  [[nodiscard]] Index size() const { return size_; }
  [[nodiscard]] const One& operator[](Index i) const { return arms_[i]; }
  /// The number of the arm in row i.
  [[nodiscard]] Index index(Index i) const { return index_[i]; }

  /// What it costs to move the arm of row i to x.
  [[nodiscard]] double cost(Index i, View x) const { return arms_[i].weight * arms_[i].arm->kl(arms_[i].theta, x); }
  /// What it costs to move all arms to a point.
  [[nodiscard]] double cost(const Matrix& point) const {
    double total = 0.0;
    for (Index i = 0; i < size_; ++i) total += cost(i, point.row(i));
    return total;
  }

 private:
  std::array<Index, 4> index_;
  Index size_;
  std::array<One, 4> arms_{};
};

/// A lower bound of a cost, and the cost of a feasible point.
struct Bounds {
  double lower, upper;
};

}  // namespace linkarms
