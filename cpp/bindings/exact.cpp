// The pieces of exact psi: bounds and duals of splits. What calls SciPy's solvers is Python.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "psi/lagrangian.hpp"
#include "psi/line_psi.hpp"
#include "psi/split_bounds.hpp"
#include "psi/split_dual.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace linkarms::bindings {
namespace {

SplitArms split_arms(const Array3& theta, const Array3& precision, std::vector<Index> u, std::vector<Index> v, Index a, Index b) {
  const std::size_t n = theta.shape(0), rows = theta.shape(1);
  if (precision.shape(0) != n || precision.shape(1) != rows || precision.shape(2) != rows || u.size() != v.size())
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

void bind_exact(nb::module_& m, nb::module_& testing) {
  nb::class_<AscentOfSplit>(m, "Ascent", "Where the dual of a split was largest.")
      .def_prop_ro("value", [](const AscentOfSplit& x) { return x.ascent.value; })
      .def_prop_ro("end", [](const AscentOfSplit& x) { return name(x.ascent.end); })
      .def_prop_ro(
          "multipliers", [](const AscentOfSplit& x) { return to_numpy(View(x.ascent.mu)); }, nb::rv_policy::move)
      .def_prop_ro(
          "point", [](const AscentOfSplit& x) { return to_numpy<double, double>(x.ascent.lambda, {x.n, x.rows, x.cols}); },
          nb::rv_policy::move);
  m.def(
      "ascend",
      [](const Array3& theta, const Array3& precision, const IntArray1& u, const IntArray1& v, Index a, Index b,
         const Array1& multipliers, double level) {
        const SplitArms split = split_arms(theta, precision, to_indices(u), to_indices(v), a, b);
        if (multipliers.shape(0) != split.u.size()) throw std::invalid_argument("there must be one multiplier per pair");
        std::vector<double> mu(multipliers.data(), multipliers.data() + multipliers.shape(0));
        const nb::gil_scoped_release release;
        return AscentOfSplit{ascend(split, std::move(mu), level), theta.shape(0), theta.shape(1), theta.shape(2)};
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
      [](const Array3& theta, const Array3& precision, const IntArray1& cluster, Index a, Index b, double level) {
        const SplitArms all = split_arms(theta, precision, {}, {}, a, b);
        const std::vector<Index> arms = to_indices(cluster);
        std::vector<double> values(arms.size() * arms.size());
        pair_values(all, arms, a, b, level, values);
        return to_numpy<double, double>(values, {arms.size(), arms.size()});
      },
      "theta"_a, "precision"_a, "cluster"_a, "a"_a, "b"_a, "level"_a,
      "Return lower bounds of the cost of each two arms of a cluster against the pair (a, b), up to a "
      "level.");
  m.def(
      "line_psi",
      [](const Model& model, const Array1& theta, const Array1& weights, const IntArray1& labels, Index n_clusters, double floor,
         double ceiling, const Array1& point) {
        const auto n = static_cast<std::size_t>(model.n_arms());
        if (theta.shape(0) != n || weights.shape(0) != n || labels.shape(0) != n || point.shape(0) != n)
          throw std::invalid_argument("theta, weights, labels and point must have one entry per arm");
        const Clusters clusters(to_indices(labels), n_clusters);
        std::vector<double> lam(point.data(), point.data() + n);
        const Bounds bounds = line_psi(Line{model, view(theta), view(weights)}, clusters, floor, ceiling, lam);
        return std::make_tuple(bounds.lower, bounds.upper, to_numpy(View(lam)));
      },
      "model"_a, "theta"_a, "weights"_a, "labels"_a, "n_clusters"_a, "floor"_a, "ceiling"_a, "point"_a,
      "Return a lower bound of psi of arms with one parameter each, and the cost and the place of an "
      "alternative.");
  testing.def(
      "lagrangian",
      [](const Array3& theta, const Array3& precision, const IntArray1& u, const IntArray1& v, Index a, Index b,
         const Array1& multipliers) {
        const SplitArms split = split_arms(theta, precision, to_indices(u), to_indices(v), a, b);
        Lagrangian lagrangian(split);
        const double value = lagrangian.evaluate(view(multipliers));
        return std::make_tuple(value,
                               to_numpy<double, double>(lagrangian.lambda(), {theta.shape(0), theta.shape(1), theta.shape(2)}),
                               to_numpy(View(lagrangian.lack())));
      },
      "theta"_a, "precision"_a, "u"_a, "v"_a, "a"_a, "b"_a, "multipliers"_a,
      "Return the dual of a split at given multipliers, its minimiser, and half of what each pair's square "
      "lacks.");
}

}  // namespace linkarms::bindings
