#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <stdexcept>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "linkage/partition.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace linkarms::bindings {

namespace {

auto tree_arrays(const SpanningTree& tree) {
  return std::tuple(to_numpy(std::span<const Index>(tree.order)), to_numpy(std::span<const Index>(tree.parent)),
                    to_numpy(View(tree.length)));
}

auto cut(const Distances& dist, const std::variant<Index, Task>& task) {
  const Cut found = cut_tree(minimum_spanning_tree(dist), checked_task(task, dist.size()));
  return std::tuple(to_numpy(std::span<const Index>(found.labels)), found.ambiguous);
}

/// Points, their distances and the partition of them, kept while points move.
struct MovingPoints {
  Matrix points;
  Distances dist;
  Partition partition;

  MovingPoints(const Array2& start, const std::variant<Index, Task>& task)
      : points(to_matrix(start)), dist(points), partition(points.rows(), checked_task(task, points.rows())) {
    partition.make(dist);
  }
  bool move(Index m, const Array1& place) {
    if (m < 0 || m >= points.rows() || place.shape(0) != points.row(0).size()) throw std::invalid_argument("no such point");
    std::ranges::copy(view(place), points.row(m).begin());
    dist.update(points, m);
    return partition.update(dist, m);
  }
};

}  // namespace

void bind_linkage(nb::module_& m, nb::module_& testing) {
  nb::class_<Task>(
      m, "Task",
      "Which partition is asked for: K clusters, the cut with the largest gap, or a distance threshold; and a tolerance.")
      .def(
          "__init__",
          [](Task* self, Index n_clusters, std::optional<double> distance, double tolerance, bool largest_gap) {
            new (self) Task{n_clusters, distance, tolerance, largest_gap};
          },
          nb::kw_only(), "n_clusters"_a = 0, "distance"_a = nb::none(), "tolerance"_a = 0.0, "largest_gap"_a = false)
      .def_ro("n_clusters", &Task::n_clusters)
      .def_ro("distance", &Task::distance)
      .def_ro("tolerance", &Task::tolerance)
      .def_ro("largest_gap", &Task::largest_gap);
  m.def(
      "single_linkage",
      [](const Array2& points, const std::variant<Index, Task>& task) {
        if (points.shape(0) == 0) throw std::invalid_argument("parameters must have at least one row");
        return cut(Distances(to_matrix(points)), task);
      },
      "parameters"_a, "task"_a,
      "Return the labels of the partition that is asked for, or into so many clusters, and whether it is ambiguous.");
  m.def(
      "minimum_spanning_tree", [](const Array2& dist) { return tree_arrays(minimum_spanning_tree(to_distances(dist))); },
      "dist"_a, "Return the order in which arms join the tree, their parents and the lengths of their edges.");

  testing.def(
      "cut_lengths", [](const Array2& dist, Index n_clusters) { return cut(to_distances(dist), n_clusters); }, "dist"_a,
      "n_clusters"_a, "Return the labels of single linkage under any lengths and whether the cut is ambiguous.");
  testing.def(
      "update_spanning_tree",
      [](const Array2& dist, const IntArray1& dirty, const IntArray1& order, const IntArray1& parent, const Array1& length) {
        SpanningTree tree{to_indices(order), to_indices(parent), {length.data(), length.data() + length.shape(0)}};
        update_spanning_tree(to_distances(dist), to_indices(dirty), tree);
        return tree_arrays(tree);
      },
      "dist"_a, "dirty"_a, "order"_a, "parent"_a, "length"_a,
      "Return a minimum spanning tree, given by three arrays, after the distances of some arms have "
      "changed.");
  // a new array each time: nothing that Python would have to keep alive
  constexpr auto copied = nb::rv_policy::move;
  nb::class_<MovingPoints>(testing, "MovingPoints", "The partition of points that move one by one.")
      .def(nb::init<const Array2&, const std::variant<Index, Task>&>(), "points"_a, "task"_a)
      .def("move", &MovingPoints::move, "m"_a, "place"_a, "Move a point; return whether the clusters were made again.")
      .def_prop_ro(
          "labels", [](const MovingPoints& p) { return to_numpy(p.partition.clusters().labels()); }, copied)
      .def_prop_ro(
          "labels_before", [](const MovingPoints& p) { return to_numpy(p.partition.clusters_before().labels()); }, copied)
      .def_prop_ro("ambiguous", [](const MovingPoints& p) { return p.partition.ambiguous(); })
      .def_prop_ro(
          "up", [](const MovingPoints& p) { return to_numpy(p.partition.up()); }, copied)
      .def_prop_ro(
          "nearest", [](const MovingPoints& p) { return to_numpy(p.partition.nearest()); }, copied)
      .def("members", [](const MovingPoints& p, Index k) { return to_numpy(p.partition.clusters().members(k)); }, "k"_a);
}

}  // namespace linkarms::bindings
