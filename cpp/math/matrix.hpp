// Dense matrices that own their memory, and views of vectors.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <vector>

#include "math/large_pages.hpp"

namespace linkarms {

/// The number of an arm, or of a cluster. Negative: none.
using Index = int;

using View = std::span<const double>;
using MutView = std::span<double>;

/// A matrix in row-major order. Its shape is fixed when it is made.
template <class T>
class MatrixOf {
 public:
  MatrixOf() = default;
  MatrixOf(Index rows, Index cols, T value = T{})
      : rows_(rows), cols_(cols), data_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols), value) {}

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }

  [[nodiscard]] T operator()(Index i, Index j) const { return data_[at(i, j)]; }
  T& operator()(Index i, Index j) { return data_[at(i, j)]; }

  [[nodiscard]] std::span<const T> row(Index i) const { return {data_.data() + at(i, 0), width()}; }
  std::span<T> row(Index i) { return {data_.data() + at(i, 0), width()}; }

  [[nodiscard]] std::span<const T> values() const { return data_; }
  std::span<T> values() { return data_; }
  [[nodiscard]] std::size_t bytes() const { return data_.size() * sizeof(T); }

 private:
  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(cols_); }
  [[nodiscard]] std::size_t at(Index i, Index j) const {
    assert(0 <= i && i < rows_ && 0 <= j && (j < cols_ || (j == 0 && cols_ == 0)));
    return static_cast<std::size_t>(i) * width() + static_cast<std::size_t>(j);
  }

  Index rows_ = 0, cols_ = 0;
  std::vector<T, LargePages<T>> data_;
};

using Matrix = MatrixOf<double>;

}  // namespace linkarms
