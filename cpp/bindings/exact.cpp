// The pieces of exact psi: bounds and duals of splits. What calls SciPy's solvers is Python.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "psi/split_bounds.hpp"
#include "psi/split_dual.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace linkarms::bindings {
namespace {

using Array3 = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

SplitArms split_arms(const Array3& theta, const Array3& precision, std::vector<Index> u, std::vector<Index> v,
                     Index a, Index b) {
  const std::size_t n = theta.shape(0), rows = theta.shape(1);
  if (precision.shape(0) != n || precision.shape(1) != rows || precision.shape(2) != rows ||
      u.size() != v.size())
    throw std::invalid_argument("theta, precision, u and v do not fit together");
  const auto outside = [&](Index m) { return m < 0 || static_cast<std::size_t>(m) >= n; };
  if (outside(a) || outside(b) || std::ranges::any_of(u, outside) || std::ranges::any_of(v, outside))
    throw std::invalid_argument("an arm's number is out of range");
  return {static_cast<Index>(n),
          static_cast<Index>(rows),
          static_cast<Index>(theta.shape(2)),
          {theta.data(), theta.data() + theta.size()},
          {precision.data(), precision.data() + precision.size()},
          std::move(u),
          std::move(v),
          a,
          b};
}

std::string name(AscentEnd end) {
  return end == AscentEnd::solved ? "solved" : end == AscentEnd::reached ? "reached" : "edge";
}

/// An ascent as Python sees it.
struct AscentOfSplit {
  Ascent ascent;
  std::size_t n, rows, cols;
};

}  // namespace

void bind_exact(nb::module_& m, nb::module_&) {
  nb::class_<AscentOfSplit>(m, "Ascent", "Where the dual of a split was largest.")
      .def_prop_ro("value", [](const AscentOfSplit& x) { return x.ascent.value; })
      .def_prop_ro("end", [](const AscentOfSplit& x) { return name(x.ascent.end); })
      .def_prop_ro(
          "multipliers", [](const AscentOfSplit& x) { return to_numpy(View(x.ascent.mu)); },
          nb::rv_policy::move)
      .def_prop_ro(
          "point",
          [](const AscentOfSplit& x) {
            return to_numpy<double, double>(x.ascent.lambda, {x.n, x.rows, x.cols});
          },
          nb::rv_policy::move);
  m.def(
      "ascend",
      [](const Array3& theta, const Array3& precision, const IntArray1& u, const IntArray1& v, Index a,
         Index b, const Array1& multipliers, double level) {
        const SplitArms split = split_arms(theta, precision, to_indices(u), to_indices(v), a, b);
        if (multipliers.shape(0) != split.u.size())
          throw std::invalid_argument("there must be one multiplier per pair");
        std::vector<double> mu(multipliers.data(), multipliers.data() + multipliers.shape(0));
        const nb::gil_scoped_release release;
        return AscentOfSplit{ascend(split, std::move(mu), level), theta.shape(0), theta.shape(1),
                             theta.shape(2)};
      },
      "theta"_a, "precision"_a, "u"_a, "v"_a, "a"_a, "b"_a, "multipliers"_a, "level"_a,
      "Maximise the dual of one split from the given multipliers, up to a level.");
  m.def(
      "split_bounds",
      [](const Array2& theta, const Array1& spread, const IntArray1& labels, Index n_clusters, double level) {
        const Clusters clusters(to_indices(labels), n_clusters);
        const auto n = theta.shape(0), k = static_cast<std::size_t>(n_clusters);
        std::vector<double> bounds(k * n * n);
        split_bounds(Distances(to_matrix(theta)), view(spread), clusters, level, bounds);
        return to_numpy<double, double>(bounds, {k, n, n});
      },
      "theta"_a, "spread"_a, "labels"_a, "n_clusters"_a, "level"_a,
      "Return lower bounds of the cost to split each cluster against each inter pair, shape (K, M, M).");
  m.def(
      "pair_values",
      [](const Array3& theta, const Array3& precision, const IntArray1& cluster, Index a, Index b,
         double level) {
        const SplitArms all = split_arms(theta, precision, {}, {}, a, b);
        const std::vector<Index> arms = to_indices(cluster);
        std::vector<double> values(arms.size() * arms.size());
        pair_values(all, arms, a, b, level, values);
        return to_numpy<double, double>(values, {arms.size(), arms.size()});
      },
      "theta"_a, "precision"_a, "cluster"_a, "a"_a, "b"_a, "level"_a,
      "Return lower bounds of the cost of each two arms of a cluster against the pair (a, b), up to a "
      "level.");
}

}  // namespace linkarms::bindings
