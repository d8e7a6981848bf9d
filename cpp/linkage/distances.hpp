// Euclidean distances between all arms.
#pragma once

#include "math/matrix.hpp"

namespace linkarms {

/// Distances between M points; symmetric, zero on the diagonal.
class Distances {
 public:
  explicit Distances(Index n) : d_(n, n) {}
  explicit Distances(const Matrix& points);

  [[nodiscard]] Index size() const { return d_.rows(); }
  [[nodiscard]] double operator()(Index i, Index j) const { return d_(i, j); }
  [[nodiscard]] View row(Index i) const { return d_.row(i); }
  [[nodiscard]] std::size_t bytes() const { return d_.bytes(); }
  /// The distances of point m, which has moved, from all others.
  void update(const Matrix& points, Index m);
  /// Any symmetric matrix of lengths in place of Euclidean ones, for spanning trees of bounds.
  void set(Index i, Index j, double length) { d_(i, j) = d_(j, i) = length; }

 private:
  Matrix d_;
};

}  // namespace linkarms
