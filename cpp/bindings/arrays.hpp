// NumPy arrays to the core's own types and back. Copies both ways: what crosses the boundary is small.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <tuple>
#include <variant>
#include <vector>

#include "linkage/distances.hpp"
#include "linkage/task.hpp"
#include "math/constants.hpp"
#include "math/matrix.hpp"
#include "pair/witness.hpp"

namespace linkarms::bindings {

using Array1 = nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Array2 = nanobind::ndarray<const double, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using Array3 = nanobind::ndarray<const double, nanobind::ndim<3>, nanobind::c_contig, nanobind::device::cpu>;
using IntArray1 = nanobind::ndarray<const std::int64_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

/// Two pairs of arms, (u, v, a, b).
using Pairs = std::tuple<Index, Index, Index, Index>;
/// Of a pair alone, as under a distance threshold, the other arms are -1.
[[nodiscard]] inline std::optional<Pairs> to_pairs(const Witness& w) {
  return w.exists() ? std::optional(Pairs{w.u, w.v, w.a, w.b}) : std::nullopt;
}

/// A task, or the number of clusters for short.
[[nodiscard]] inline Task task_of(const std::variant<Index, Task>& task) {
  const auto* n_clusters = std::get_if<Index>(&task);
  return n_clusters ? Task{.n_clusters = *n_clusters} : std::get<Task>(task);
}
/// The same where it can be asked of so many arms. Throws std::invalid_argument where it cannot.
[[nodiscard]] inline Task checked_task(const std::variant<Index, Task>& given, Index n_arms) {
  const Task task = task_of(given);
  task.check(n_arms);
  return task;
}

[[nodiscard]] inline View view(const Array1& x) {
  return {x.data(), x.shape(0)};
}

[[nodiscard]] inline Matrix to_matrix(const Array2& x) {
  Matrix out(static_cast<Index>(x.shape(0)), static_cast<Index>(x.shape(1)));
  std::copy_n(x.data(), x.size(), out.values().begin());
  return out;
}

/// Low and high of each feature; unbounded where none are given.
[[nodiscard]] inline Matrix to_box(const std::optional<Array2>& box, Index n_features) {
  if (box) return to_matrix(*box);
  Matrix out(n_features, 2);
  for (Index i = 0; i < n_features; ++i) out(i, 0) = -(out(i, 1) = inf);
  return out;
}

[[nodiscard]] inline Distances to_distances(const Array2& lengths) {
  if (lengths.shape(0) != lengths.shape(1) || lengths.shape(0) == 0) {
    throw std::invalid_argument("dist must be a square matrix with at least one row");
  }
  Distances dist(static_cast<Index>(lengths.shape(0)));
  for (Index i = 0; i < dist.size(); ++i) {
    for (Index j = 0; j < i; ++j) dist.set(i, j, lengths(i, j));
  }
  return dist;
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
