#include "run/engine.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <functional>
#include <optional>
#include <stdexcept>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "bindings/named.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace linkarms::bindings {

namespace {

using IntsOut = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using IntTableOut = nb::ndarray<std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline constexpr std::array ending_names{Names<Ending>{"stopped", Ending::stopped}, Names<Ending>{"budget", Ending::budget},
                                         Names<Ending>{"need_samples", Ending::need_samples}};

/// A run as Python holds it. It works without the GIL; a second thread, or a user's function that comes back
/// to the run it was called from, is refused.
class BoundEngine {
 public:
  explicit BoundEngine(Engine engine) : engine_(std::move(engine)) {}

  template <class Work>
  auto use(Work work) {
    if (busy_.test_and_set()) {
      throw std::runtime_error(
          "this run is in use, by another thread or by the function that it called; wait until it has "
          "finished");
    }
    const Release release{busy_};
    const nb::gil_scoped_release unlocked;
    return work(engine_);
  }
  [[nodiscard]] const Engine& get() const { return engine_; }
  /// Tells copies of this run from those of others.
  [[nodiscard]] const std::shared_ptr<const int>& mark() const { return mark_; }

 private:
  struct Release {
    std::atomic_flag& flag;
    ~Release() { flag.clear(); }
  };
  Engine engine_;
  std::atomic_flag busy_;
  std::shared_ptr<const int> mark_ = std::make_shared<const int>();
};

/// psi and what belongs to it, found where it has not been.
const NearestAlternative& nearest_of(BoundEngine& self) {
  if (self.get().behind()) self.use([](Engine& engine) { static_cast<void>(engine.nearest()); });
  return self.get().last_nearest();
}

/// A saved run.
struct Saved {
  std::shared_ptr<const RunState> state;
  std::shared_ptr<const int> maker;
};

/// A read-only view of numbers that `owner` keeps, and that stay where they are.
template <class T>
nb::object view_of(std::span<const T> x, nb::handle owner) {
  return nb::cast(nb::ndarray<nb::numpy, const T>(x.data(), {x.size()}, owner));
}
nb::object view_of(const Matrix& x, nb::handle owner) {
  const auto rows = static_cast<std::size_t>(x.rows()), cols = static_cast<std::size_t>(x.cols());
  return nb::cast(nb::ndarray<nb::numpy, const double>(x.values().data(), {rows, cols}, owner));
}

/// What the engine says of itself, as a property: as a value, or as a view.
template <class Get>
auto as_value(Get get) {
  return [get](const BoundEngine& self) { return std::invoke(get, self.get()); };
}
template <class Get>
auto as_view(Get get) {
  return [get](nb::handle self) { return view_of(std::invoke(get, nb::cast<const BoundEngine&>(self).get()), self); };
}
/// The same of psi and what belongs to it.
template <class Get>
auto as_nearest_view(Get get) {
  return [get](nb::handle self) { return view_of(std::invoke(get, nearest_of(nb::cast<BoundEngine&>(self))), self); };
}

/// A function of the engine, called without the GIL.
template <class R, class... Given>
auto method(R (Engine::*function)(Given...)) {
  return [function](BoundEngine& self, Given... given) {
    return self.use([&](Engine& engine) { return (engine.*function)(std::move(given)...); });
  };
}

Witness witness_of(const Engine& engine, const Pairs& w) {
  const auto [u, v, a, b] = w;
  const bool pair = engine.task().distance.has_value();
  for (const Index m : {u, v, a, b}) {
    if ((m < 0 && !(pair && m == -1)) || m >= engine.n_arms()) {
      throw std::invalid_argument("an arm of the pairs is out of range");
    }
  }
  const Witness found{u, v, a, b};
  const bool whole = u >= 0 && v >= 0 && a >= 0 && b >= 0;
  const bool half = (found.is_split() && v >= 0 && b < 0) || (found.is_merge() && b >= 0 && v < 0);
  if (pair ? !half : !whole) throw std::invalid_argument("give two pairs of arms, or one under a distance threshold");
  return found;
}

void make_engine(BoundEngine* self, std::shared_ptr<Model> model, const std::variant<Index, Task>& task, SamplingRule sampling,
                 StoppingRule stopping, const std::optional<Array2>& box, std::optional<std::vector<double>> weights) {
  Matrix limits = to_box(box, model->n_features());
  std::vector<double> first = weights ? std::move(*weights) : std::vector<double>(static_cast<std::size_t>(model->n_arms()));
  new (self) BoundEngine(
      Engine(std::move(model), task_of(task), std::move(sampling), std::move(stopping), std::move(limits), std::move(first)));
}

nb::object moments_of(const Engine& engine) {
  nb::list out;
  if (engine.model().variances() != Variances::known) {
    for (Index m = 0; m < engine.n_arms(); ++m) out.append(nb::cast(engine.samples().moments(m)));
  }
  return out;
}

Outcome run(BoundEngine& self, const std::variant<Array3, std::vector<Array2>>& samples, const IntsOut& used,
            const Array1& levels, const IntsOut& stopped_at, const IntTableOut& stopped_labels, std::int64_t max_samples,
            const std::optional<IntTableOut>& stopped_counts) {
  Trial trial;
  const auto d = static_cast<std::size_t>(self.get().model().n_features());
  const auto add = [&](const double* data, std::size_t n, std::size_t width) {
    if (width != d) throw std::invalid_argument("samples must have n_features numbers each");
    trial.samples.emplace_back(data, n * width);
  };
  if (const auto* block = std::get_if<Array3>(&samples)) {
    const std::size_t n = block->shape(1), width = block->shape(2);
    for (std::size_t m = 0; m < block->shape(0); ++m) add(block->data() + m * n * width, n, width);
  } else {
    for (const Array2& x : std::get<std::vector<Array2>>(samples)) add(x.data(), x.shape(0), x.shape(1));
  }
  trial.used = {used.data(), used.shape(0)};
  trial.levels = view(levels);
  trial.stopped_at = {stopped_at.data(), stopped_at.shape(0)};
  trial.stopped_labels = {stopped_labels.data(), stopped_labels.size()};
  if (stopped_counts) trial.stopped_counts = {stopped_counts->data(), stopped_counts->size()};
  return self.use([&](Engine& engine) { return engine.run(trial, max_samples); });
}

/// Knots with the weights of the samples there.
using KnotRows = std::vector<std::pair<Index, double>>;

void bind_told(nb::module_& m) {
  nb::class_<Told>(m, "Told", "All that a dump holds of a run.")
      .def(
          "__init__",
          [](Told* self, std::vector<std::int64_t> counts, std::vector<std::int64_t> pending, const Array2& means,
             std::vector<double> weights, std::vector<double> weight_sum, std::vector<Moments> moments,
             const std::vector<KnotRows>& knots, Index scale) {
            std::vector<std::vector<Knot>> kept(knots.size());
            for (std::size_t m = 0; m < knots.size(); ++m) {
              for (const auto& [place, weight] : knots[m]) kept[m].push_back({place, weight});
            }
            new (self) Told{std::move(counts), std::move(pending), to_matrix(means),      std::move(moments),
                            std::move(kept),   std::move(weights), std::move(weight_sum), scale};
          },
          nb::kw_only(), "counts"_a, "pending"_a, "means"_a, "weights"_a, "weight_sum"_a, "moments"_a = std::vector<Moments>(),
          "knots"_a = std::vector<KnotRows>(), "scale"_a = 0)
      .def_ro("counts", &Told::counts)
      .def_ro("pending", &Told::pending)
      .def_prop_ro("means", [](const Told& self) { return nb::cast(to_numpy(self.means)); })
      .def_ro("moments", &Told::moments)
      .def_prop_ro("knots",
                   [](const Told& self) {
                     std::vector<KnotRows> out(self.knots.size());
                     for (std::size_t m = 0; m < out.size(); ++m) {
                       for (const Knot& knot : self.knots[m]) out[m].emplace_back(knot.place, knot.weight);
                     }
                     return out;
                   })
      .def_ro("weights", &Told::weights)
      .def_ro("weight_sum", &Told::weight_sum)
      .def_ro("scale", &Told::scale);
}

void bind_run(nb::module_& m) {
  nb::class_<Saved>(m, "SavedRun", "A copy of a run, memory of its searches included.");
  nb::class_<Outcome>(m, "Outcome", "Why a trial came back, and the arm that has no more samples.")
      .def_prop_ro("ending", [](const Outcome& self) { return name_of(ending_names, self.ending); })
      .def_ro("arm", &Outcome::arm);
  nb::class_<BoundEngine>(m, "Engine", "One run: arms are numbers, samples are checked by the caller.")
      .def("__init__", &make_engine, "model"_a, "task"_a, nb::kw_only(), "sampling"_a = nb::none(), "stopping"_a = nb::none(),
           "box"_a = nb::none(), "weights"_a = nb::none())
      .def(
          "observe",
          [](BoundEngine& self, Index arm, const Array1& statistic) {
            self.use([&](Engine& engine) { engine.observe(arm, view(statistic)); });
          },
          "arm"_a, "statistic"_a, "Take in one sample. If a user's function raises, nothing has changed.")
      .def("choose", method(&Engine::choose), "Return the next arm, pending pulls counted as pulls.")
      .def("check", method(&Engine::check), "level"_a, "Return whether the rule stops at this level.")
      .def(
          "evidence",
          [](BoundEngine& self, std::optional<double> level) {
            return self.use([=](Engine& engine) { return level ? engine.evidence(*level) : engine.evidence(); });
          },
          "level"_a = nb::none(), "Return the rule's statistic.")
      .def(
          "witness", [](BoundEngine& self) { return to_pairs(self.use([](Engine& engine) { return engine.witness(); })); },
          "Return the least certain pair of pairs, or None.")
      .def(
          "cuts",
          [](BoundEngine& self, double level) {
            const auto found = self.use([=](Engine& engine) { return engine.cuts(level); });
            nb::list out;
            for (const CertifiedCut& cut : found) {
              out.append(std::tuple(cut.n_clusters, to_numpy<std::int64_t, Index>(cut.labels, {cut.labels.size()})));
            }
            return out;
          },
          "level"_a, "Return the cuts that are certain at log(1/delta) = level: pairs of K and labels.")
      .def(
          "evidence_against",
          [](BoundEngine& self, const Pairs& pairs, double level) {
            const Witness w = witness_of(self.get(), pairs);
            return self.use([=](Engine& engine) { return engine.evidence_against(w, level); });
          },
          "pairs"_a, "level"_a = inf, "Return the evidence against one pair of pairs, or any value of at least `level`.")
      .def(
          "evidence_is_below",
          [](BoundEngine& self, const Pairs& pairs, double level) {
            const Witness w = witness_of(self.get(), pairs);
            return self.use([=](Engine& engine) { return engine.evidence_is_below(w, level); });
          },
          "pairs"_a, "level"_a, "Return whether the evidence against one pair of pairs is below `level`.")
      .def("run", &run, "samples"_a, "used"_a.noconvert(), "levels"_a, "stopped_at"_a.noconvert(), "stopped_labels"_a.noconvert(),
           "max_samples"_a, "stopped_counts"_a.noconvert() = nb::none(),
           "Go on with a trial until every level is reached, the budget is used up, or an arm has no more "
           "samples.")
      .def(
          "save", [](BoundEngine& self) { return Saved{self.use([](Engine& engine) { return engine.save(); }), self.mark()}; },
          "Return a copy of the run.")
      .def(
          "restore",
          [](BoundEngine& self, const Saved& saved) {
            if (saved.maker != self.mark()) throw std::invalid_argument("this copy was made by another engine; restore it there");
            self.use([&](Engine& engine) { engine.restore(*saved.state); });
          },
          "saved"_a, "Go back to a copy that this engine made.")
      .def(
          "told", [](BoundEngine& self) { return self.use([](Engine& engine) { return engine.told(); }); },
          "Return what has been told.")
      .def("set_told", method(&Engine::set_told), "told"_a, "Set what has been told; the rest follows. All or nothing.")
      .def(
          "set_pending",
          [](BoundEngine& self, const IntArray1& pulls) {
            self.use([&](Engine& engine) { engine.set_pending({pulls.data(), pulls.shape(0)}); });
          },
          "pulls"_a, "Set the pulls under way.")
      .def("set_sample_costs", method(&Engine::set_sample_costs), "costs"_a,
           "Set what a sample of each arm costs, before the first sample; only ratios matter.")
      .def("add_pending", method(&Engine::add_pending), "arm"_a, "pulls"_a,
           "Add to the pulls of an arm that are under way; never below 0.")
      .def_prop_rw(
          "atboc",
          [](BoundEngine& self) {
            return self.use(
                [](Engine& engine) { return engine.atboc() ? std::optional(engine.atboc()->memory()) : std::nullopt; });
          },
          [](BoundEngine& self, const AtbocMemory& memory) {
            self.use([&](Engine& engine) {
              if (!engine.atboc()) throw std::invalid_argument("this run does not use ATBOC");
              engine.atboc()->set_memory(memory);
            });
          })
      .def_prop_ro("n_arms", as_value(&Engine::n_arms))
      .def_prop_ro("task", as_value(&Engine::task))
      .def_prop_ro("total", [](const BoundEngine& self) { return self.get().samples().total(); })
      .def_prop_ro("ready", as_value(&Engine::ready))
      .def_prop_ro("ambiguous", as_value(&Engine::ambiguous))
      .def_prop_ro("psi", [](BoundEngine& self) { return nearest_of(self).psi(); })
      .def_prop_ro("nearest_witness", [](BoundEngine& self) { return to_pairs(nearest_of(self).witness()); })
      .def_prop_ro("threshold_base", as_value(&Engine::threshold_base))
      .def_prop_ro("costs_evaluated", as_value(&Engine::costs_evaluated))
      .def_prop_ro("nbytes", as_value(&Engine::bytes))
      .def_prop_ro("counts", [](const BoundEngine& self) { return nb::cast(to_numpy(self.get().samples().counts())); })
      .def_prop_ro("moments", as_value(&moments_of))
      .def_prop_ro("pending", as_view(&Engine::pending))
      .def_prop_ro("labels", as_view(&Engine::labels))
      .def_prop_ro("means", as_view([](const Engine& engine) -> const Matrix& { return engine.samples().means(); }))
      .def_prop_ro("estimates", as_view([](const Engine& engine) -> const Matrix& { return engine.samples().estimates(); }))
      .def_prop_ro("weights", as_view([](const Engine& engine) { return engine.last_nearest().weights(); }))
      .def_prop_ro("kl", as_nearest_view(&NearestAlternative::kl))
      .def_prop_ro("alternative", as_nearest_view(&NearestAlternative::lam))
      .def_prop_ro("ebc_weights", as_view(&Engine::ebc_weights))
      .def_prop_ro("ebc_weight_sum", as_view(&Engine::ebc_weight_sum));
}

}  // namespace

void bind_engine(nb::module_& m) {
  bind_told(m);
  bind_run(m);
}

}  // namespace linkarms::bindings
