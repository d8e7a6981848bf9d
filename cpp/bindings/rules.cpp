#include "run/rules.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "bindings/named.hpp"
#include "evidence/tables.hpp"
#include "math/seed_sequence.hpp"
#include "run/engine.hpp"
#include "run/gap_bounds.hpp"
#include "run/lucb.hpp"
#include "run/matrix_game.hpp"
#include "run/threshold.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace linkarms::bindings {

namespace {

using IntArray2 = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void bind_classes(nb::module_& m) {
  nb::class_<Ebc>(m, "Ebc").def(nb::init<double>(), "step"_a = 1.0).def_ro("step", &Ebc::step);
  nb::class_<EbcH>(m, "EbcH").def(nb::init<>());
  nb::class_<RoundRobin>(m, "RoundRobin").def(nb::init<>());
  nb::class_<Lucbboc>(m, "Lucbboc").def(nb::init<double>(), nb::kw_only(), "level"_a).def_ro("level", &Lucbboc::level);
  nb::class_<Atboc>(m, "Atboc").def(nb::init<double>(), "gap"_a = 1e-3).def_ro("gap", &Atboc::gap);
  nb::class_<PaperStop>(m, "PaperStop")
      .def(nb::init<double, double>(), nb::kw_only(), "epsilon"_a, "log_volume"_a)
      .def_ro("epsilon", &PaperStop::epsilon)
      .def_ro("log_volume", &PaperStop::log_volume);
  nb::class_<LevelStop>(m, "LevelStop").def(nb::init<>());
  nb::class_<BocStop>(m, "BocStop").def(nb::init<>());
  nb::class_<AnytimeStop>(m, "AnytimeStop")
      .def(
          "__init__",
          [](AnytimeStop* self, std::vector<double> grid, double discount, int version, std::string_view promise, bool tolerant) {
            new (self) AnytimeStop{std::move(grid), discount, version, {named(promise_names, "promise", promise), tolerant}};
          },
          nb::kw_only(), "grid"_a, "discount"_a = 1.0, "version"_a = 1, "promise"_a = "clusters", "tolerant"_a = false)
      .def_ro("grid", &AnytimeStop::grid)
      .def_ro("discount", &AnytimeStop::discount)
      .def_ro("version", &AnytimeStop::version)
      .def_prop_ro("promise", [](const AnytimeStop& self) { return name_of(promise_names, self.question.promise); })
      .def_prop_ro("tolerant", [](const AnytimeStop& self) { return self.question.tolerant; })
      .def(
          "base",
          [](const AnytimeStop& self, const Model& model, const std::variant<Index, Task>& given, Index largest_cluster) {
            const Task task = checked_task(given, model.n_arms());
            const auto evidence = make_anytime_evidence(model, task, self.grid, self.discount, self.version);
            return AnytimeBase(self, *evidence, model.n_arms(), task)(largest_cluster);
          },
          "model"_a, "task"_a, "largest_cluster"_a);
}

AtbocMemory atboc_memory(std::int64_t last, std::int64_t evaluations, double lower, double upper, std::vector<double> weights,
                         std::vector<double> total, std::vector<Index> labels, std::vector<double> mixture, const IntArray2& arms,
                         const Array3& points) {
  if (arms.shape(1) != 4 || points.shape(0) != arms.shape(0) || points.shape(1) != 4) {
    throw std::invalid_argument("arms must be (n, 4) and points (n, 4, n_features)");
  }
  AtbocMemory out{last, evaluations,       lower, upper, std::move(weights), std::move(total), std::move(labels),
                  {},   std::move(mixture)};
  const std::size_t d = points.shape(2);
  for (std::size_t j = 0; j < arms.shape(0); ++j) {
    MovedArms& cut = out.cuts.emplace_back(MovedArms{{}, Matrix(4, static_cast<Index>(d))});
    for (std::size_t i = 0; i < 4; ++i) cut.arms[i] = static_cast<Index>(arms(j, i));
    std::copy_n(points.data() + j * 4 * d, 4 * d, cut.points.values().begin());
  }
  return out;
}

void bind_atboc(nb::module_& m) {
  nb::class_<AtbocMemory>(m, "AtbocMemory", "What ATBOC keeps from sample to sample.")
      .def(
          "__init__",
          [](AtbocMemory* self, std::int64_t last, std::int64_t evaluations, double lower, double upper,
             std::vector<double> weights, std::vector<double> total, std::vector<Index> labels, std::vector<double> mixture,
             const IntArray2& arms, const Array3& points) {
            new (self) AtbocMemory(atboc_memory(last, evaluations, lower, upper, std::move(weights), std::move(total),
                                                std::move(labels), std::move(mixture), arms, points));
          },
          nb::kw_only(), "last"_a, "evaluations"_a, "lower"_a, "upper"_a, "weights"_a, "total"_a, "labels"_a, "mixture"_a,
          "arms"_a, "points"_a)
      .def_ro("last", &AtbocMemory::last)
      .def_ro("evaluations", &AtbocMemory::evaluations)
      .def_ro("lower", &AtbocMemory::lower)
      .def_ro("upper", &AtbocMemory::upper)
      .def_ro("weights", &AtbocMemory::weights)
      .def_ro("total", &AtbocMemory::total)
      .def_ro("labels", &AtbocMemory::labels)
      .def_ro("mixture", &AtbocMemory::mixture)
      .def_prop_ro("arms",
                   [](const AtbocMemory& self) {
                     std::vector<Index> all;
                     for (const MovedArms& cut : self.cuts) all.insert(all.end(), cut.arms.begin(), cut.arms.end());
                     return nb::cast(to_numpy<std::int64_t, Index>(all, {self.cuts.size(), 4}));
                   })
      .def_prop_ro("points", [](const AtbocMemory& self) {
        std::vector<double> all;
        std::size_t d = 0;
        for (const MovedArms& cut : self.cuts) {
          d = static_cast<std::size_t>(cut.points.cols());
          all.insert(all.end(), cut.points.values().begin(), cut.points.values().end());
        }
        return nb::cast(to_numpy<double, double>(all, {self.cuts.size(), 4, d}));
      });
}

void bind_parts(nb::module_& m, nb::module_& testing) {
  m.def(
      "paper_penalty",
      [](const Model& model, Index arm, const Array1& theta, double n, double epsilon, double log_volume) {
        return paper_penalty(model, arm, view(theta), n, PaperStop{epsilon, log_volume});
      },
      "model"_a, "arm"_a, "theta"_a, "n"_a, "epsilon"_a, "log_volume"_a, "Return an arm's part of the paper's threshold.");
  m.def(
      "gap_bounds",
      [](const Array1& low, const Array1& high) {
        if (low.shape(0) != high.shape(0)) throw std::invalid_argument("low and high must have one end per arm");
        const GapBounds found = gap_bounds(view(low), view(high));
        return std::tuple(to_numpy(View(found.upper)), found.certain);
      },
      "low"_a, "high"_a, "Return upper bounds on the gaps beside each arm, and a lower bound on the largest gap.");
  m.def(
      "seed_words",
      [](const std::vector<std::uint32_t>& words) {
        const auto [a, b, c, d] = seed_words(words);
        return std::tuple(a, b, c, d);
      },
      "words"_a, "Return numpy.random.SeedSequence(words).generate_state(4, numpy.uint64), faster.");
  m.def("evidence_has_scale", &evidence_has_scale, "model"_a, "version"_a, "Return whether any arm's evidence has a c.");
  m.def("evidence_is_aligned", &evidence_is_aligned, "model"_a, "version"_a, "Return whether the evidence has aligned priors.");
  testing.def("log_inner_mass", &log_inner_mass, "x"_a);
  testing.def(
      "lucb_choice",
      [](const Array2& dist, const IntArray1& labels, Index n_clusters, const IntArray1& n, Index n_features, double level) {
        return lucb_choice(to_distances(dist), Clusters(to_indices(labels), n_clusters), {n.data(), n.shape(0)}, n_features,
                           level);
      },
      "dist"_a, "labels"_a, "n_clusters"_a, "n"_a, "n_features"_a, "level"_a);
  testing.def(
      "solve_game",
      [](const Array2& rows) {
        const Matrix table = to_matrix(rows);
        std::vector<View> views;
        for (Index j = 0; j < table.rows(); ++j) views.push_back(table.row(j));
        std::vector<double> weights(rows.shape(1)), mixture(rows.shape(0));
        const double upper = solve_game(views, weights, mixture);
        return std::tuple(upper, to_numpy(View(weights)), to_numpy(View(mixture)));
      },
      "rows"_a);
}

}  // namespace

void bind_rules(nb::module_& m, nb::module_& testing) {
  bind_classes(m);
  bind_atboc(m);
  bind_parts(m, testing);
}

}  // namespace linkarms::bindings
