// NumPy arrays to the core's own types and back. Copies both ways: what crosses the boundary is small.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "linkage/task.hpp"
#include "math/matrix.hpp"

namespace linkarms::bindings {

using Array1 = nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Array2 = nanobind::ndarray<const double, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using IntArray1 = nanobind::ndarray<const std::int64_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

/// A task, or the number of clusters for short.
[[nodiscard]] inline Task task_of(const std::variant<Index, Task>& task) {
  const auto* n_clusters = std::get_if<Index>(&task);
  return n_clusters ? Task{.n_clusters = *n_clusters} : std::get<Task>(task);
}

[[nodiscard]] inline View view(const Array1& x) {
  return {x.data(), x.shape(0)};
}

[[nodiscard]] inline Matrix to_matrix(const Array2& x) {
  Matrix out(static_cast<Index>(x.shape(0)), static_cast<Index>(x.shape(1)));
  std::copy_n(x.data(), x.size(), out.values().begin());
  return out;
}

[[nodiscard]] inline std::vector<Index> to_indices(const IntArray1& x) {
  return {x.data(), x.data() + x.shape(0)};
}

/// A new NumPy array of this shape that owns a copy of the values.
template <class To, class From>
[[nodiscard]] nanobind::ndarray<nanobind::numpy, To> to_numpy(std::span<const From> values,
                                                              std::initializer_list<std::size_t> shape) {
  auto data = std::make_unique<To[]>(values.size());
  std::ranges::copy(values, data.get());
  To* raw = data.get();
  nanobind::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<To*>(p); });
  data.release();
  return {raw, shape, owner};
}

[[nodiscard]] inline auto to_numpy(View values) {
  return to_numpy<double, double>(values, {values.size()});
}
[[nodiscard]] inline auto to_numpy(const Matrix& x) {
  return to_numpy<double, double>(x.values(), {static_cast<std::size_t>(x.rows()), static_cast<std::size_t>(x.cols())});
}
/// Indices as int64, whatever they are inside.
[[nodiscard]] inline auto to_numpy(std::span<const Index> values) {
  return to_numpy<std::int64_t, Index>(values, {values.size()});
}

}  // namespace linkarms::bindings
