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

Distances to_distances(const Array2& lengths) {
  if (lengths.shape(0) != lengths.shape(1) || lengths.shape(0) == 0) {
    throw std::invalid_argument("dist must be a square matrix with at least one row");
  }
  Distances dist(static_cast<Index>(lengths.shape(0)));
  for (Index i = 0; i < dist.size(); ++i) {
    for (Index j = 0; j < i; ++j) dist.set(i, j, lengths(i, j));
  }
  return dist;
}

void check_clusters(Index n_clusters, Index n_arms) {
  if (n_clusters < 1 || n_clusters > n_arms) {
    throw std::invalid_argument("n_clusters=" + std::to_string(n_clusters) + ", but there are " + std::to_string(n_arms) +
                                " arms; choose 1 to " + std::to_string(n_arms) + ".");
  }
}

Task checked_task(const std::variant<Index, Task>& given, Index n_arms) {
  Task task = task_of(given);
  task.check(n_arms);
  return task;
}

auto tree_arrays(const SpanningTree& tree) {
  return std::tuple(to_numpy(std::span<const Index>(tree.order)), to_numpy(std::span<const Index>(tree.parent)),
                    to_numpy(View(tree.length)));
}

auto cut(const Distances& dist, Index n_clusters) {
  check_clusters(n_clusters, dist.size());
  const Cut found = cut_tree(minimum_spanning_tree(dist), n_clusters);
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
  std::vector<Index> up() const {
    std::vector<Index> parents;
    for (Index m = 0; m < points.rows(); ++m) parents.push_back(partition.up(m));
    return parents;
  }
};

}  // namespace

void bind_linkage(nb::module_& m, nb::module_& testing) {
  m.def(
      "single_linkage",
      [](const Array2& points, Index n_clusters) {
        if (points.shape(0) == 0) throw std::invalid_argument("parameters must have at least one row");
        return cut(Distances(to_matrix(points)), n_clusters);
      },
      "parameters"_a, "n_clusters"_a, "Return the labels of single linkage and whether the cut is ambiguous.");
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
      "partition",
      [](const Array2& points, const Task& task) {
        if (points.shape(0) == 0) throw std::invalid_argument("parameters must have at least one row");
        const Distances dist(to_matrix(points));
        task.check(dist.size());
        const Cut found = cut_tree(minimum_spanning_tree(dist), task);
        return std::tuple(to_numpy(std::span<const Index>(found.labels)), found.ambiguous);
      },
      "parameters"_a, "task"_a, "Return the labels of the partition that is asked for and whether it is ambiguous.");
  m.def(
      "minimum_spanning_tree", [](const Array2& dist) { return tree_arrays(minimum_spanning_tree(to_distances(dist))); },
      "dist"_a, "Return the order in which arms join the tree, their parents and the lengths of their edges.");

  testing.def(
      "cut_lengths", [](const Array2& dist, Index n_clusters) { return cut(to_distances(dist), n_clusters); }, "dist"_a,
      "n_clusters"_a, "Return the labels of single linkage under any lengths and whether the cut is ambiguous.");
  testing.def(
      "respan",
      [](const Array2& dist, const IntArray1& dirty, const IntArray1& order, const IntArray1& parent, const Array1& length) {
        SpanningTree tree{to_indices(order), to_indices(parent), {length.data(), length.data() + length.shape(0)}};
        respan(to_distances(dist), to_indices(dirty), tree);
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
          "labels_before", [](const MovingPoints& p) { return to_numpy(p.partition.labels_before()); }, copied)
      .def_prop_ro("ambiguous", [](const MovingPoints& p) { return p.partition.ambiguous(); })
      .def_prop_ro(
          "up", [](const MovingPoints& p) { return to_numpy(std::span<const Index>(p.up())); }, copied)
      .def_prop_ro(
          "nearest", [](const MovingPoints& p) { return to_numpy(p.partition.nearest()); }, copied)
      .def("members", [](const MovingPoints& p, Index k) { return to_numpy(p.partition.clusters().members(k)); }, "k"_a);
}

}  // namespace linkarms::bindings
