#include "testing/plain_loop.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace linkarms::bindings {

namespace {

using testing::PlainLoop;

void check_arms(const IntArray1& arms, Index n_arms) {
  for (const std::int64_t m : std::span(arms.data(), arms.shape(0))) {
    if (m < 0 || m >= n_arms) throw std::invalid_argument("an arm is out of range");
  }
}

void make_loop(PlainLoop* self, std::shared_ptr<Model> model, Index n_clusters, const PaperStop& stop, const Array2& box,
               std::vector<double> counts, const Array2& means) {
  const auto n = static_cast<std::size_t>(model->n_arms()), d = static_cast<std::size_t>(model->n_features());
  if (counts.size() != n || means.shape(0) != n || means.shape(1) != d || box.shape(0) != d || box.shape(1) != 2) {
    throw std::invalid_argument("the arrays of a plain loop do not fit its model");
  }
  new (self) PlainLoop(std::move(model), n_clusters, stop, to_matrix(box), std::move(counts), to_matrix(means));
}

auto run(PlainLoop& self, const IntArray1& arms, const Array2& statistics) {
  check_arms(arms, self.n_arms());
  if (statistics.shape(0) != arms.shape(0) || static_cast<Index>(statistics.shape(1)) != self.n_features()) {
    throw std::invalid_argument("statistics must have one row per arm pulled, and one column per feature");
  }
  std::vector<double> psi;
  std::vector<Index> chosen;
  for (std::size_t i = 0; i < arms.shape(0); ++i) {
    const View statistic{statistics.data() + i * statistics.shape(1), statistics.shape(1)};
    psi.push_back(self.observe(static_cast<Index>(arms(i)), statistic));
    chosen.push_back(self.choose());
  }
  return std::tuple(to_numpy(View(psi)), to_numpy(std::span<const Index>(chosen)));
}

/// Rows of distances, one after the other: the least that any step has to do.
struct DistanceRows {
  Matrix points;
  Distances dist;

  explicit DistanceRows(const Array2& x) : points(to_matrix(x)), dist(points) {}
  void fill(const IntArray1& arms) {
    check_arms(arms, points.rows());
    for (std::size_t i = 0; i < arms.shape(0); ++i) dist.update(points, static_cast<Index>(arms(i)));
  }
};

}  // namespace

void bind_plain_loop(nb::module_& testing) {
  testing.def(
      "plain_psi",
      [](const Array2& theta, const Array1& spread, const IntArray1& labels, Index n_clusters) {
        if (spread.shape(0) != theta.shape(0) || labels.shape(0) != theta.shape(0)) {
          throw std::invalid_argument("spread and labels must have one entry per row of theta");
        }
        const Distances dist(to_matrix(theta));
        const PsiAnswer found = testing::PlainSearch().find(dist, Clusters(to_indices(labels), n_clusters), view(spread));
        const Witness& w = found.witness;
        return std::tuple(found.value, std::tuple(w.u, w.v, w.a, w.b));
      },
      "theta"_a, "spread"_a, "labels"_a, "n_clusters"_a,
      "Return psi of Gaussian arms and its two pairs, by looking at all pairs of pairs.");
  nb::class_<PlainLoop>(testing, "PlainLoop", "A run whose step looks at all pairs of pairs.")
      .def("__init__", &make_loop, "model"_a, "n_clusters"_a, nb::kw_only(), "stop"_a, "box"_a, "counts"_a, "means"_a)
      .def("run", &run, "arms"_a, "statistics"_a, "Take in samples one by one; return psi and the next arm after each.")
      .def_prop_ro(
          "kl", [](const PlainLoop& self) { return to_numpy(self.kl()); }, nb::rv_policy::move)
      .def_prop_ro("threshold_base", &PlainLoop::base);
  nb::class_<DistanceRows>(testing, "DistanceRows", "The distances of points that are found again row by row.")
      .def(nb::init<const Array2&>(), "points"_a)
      .def("fill", &DistanceRows::fill, "arms"_a, "Find the distances of each of these points from all others.");
}

}  // namespace linkarms::bindings
