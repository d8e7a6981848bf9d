#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "linkage/partition.hpp"
#include "psi/cluster_search.hpp"
#include "psi/edge_replacer.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace linkarms::bindings {

namespace {

Matrix checked_theta(const Model& model, const Array2& theta) {
  if (static_cast<Index>(theta.shape(0)) != model.n_arms() || static_cast<Index>(theta.shape(1)) != model.n_features()) {
    throw std::invalid_argument("theta must have one row per arm and one column per feature of the model");
  }
  return to_matrix(theta);
}

View checked_weights(const Model& model, const Array1& weights) {
  if (static_cast<Index>(weights.shape(0)) != model.n_arms()) throw std::invalid_argument("weights must have one entry per arm");
  for (const double w : view(weights)) {
    if (!(w >= 0.0 && w < inf)) throw std::invalid_argument("weights must be finite and not negative, got " + std::to_string(w));
  }
  return view(weights);
}

Clusters checked_labels(const Model& model, const IntArray1& labels) {
  Index n_clusters = 0;
  const auto found = to_indices(labels);
  if (static_cast<Index>(found.size()) != model.n_arms()) throw std::invalid_argument("labels must have one entry per arm");
  for (const Index label : found) {
    if (label < 0 || label > n_clusters) {
      throw std::invalid_argument("labels must be 0, 1, ... in order of first appearance, got " + std::to_string(label));
    }
    n_clusters = std::max(n_clusters, label + 1);
  }
  return {found, n_clusters};
}

/// psi of given clusters, with its minimiser.
struct PsiResult {
  PsiAnswer answer;
  Matrix lam;
  std::vector<double> kl;

  PsiResult(const Model& model, const Array1& weights, const Array2& parameters, const IntArray1& labels,
            const std::optional<Task>& task)
      : lam(checked_theta(model, parameters)), kl(static_cast<std::size_t>(model.n_arms())) {
    if (task) task->check(model.n_arms());
    const Matrix theta(lam);
    answer = psi_from_scratch(model, task.value_or(Task{}), theta, Distances(theta), checked_labels(model, labels),
                              checked_weights(model, weights), lam, kl);
  }
};

/// A run without a rule: arms move one by one, and a search follows them.
struct SearchRun {
  const Model* model;
  Matrix theta, lam;
  Distances dist;
  Partition partition;
  std::vector<double> weights, kl;
  std::unique_ptr<psi::ClusterSearch> search;
  PsiAnswer answer{};

  SearchRun(const Model& of, const Array2& start, const Array1& start_weights, Index n_clusters, Index most_slots,
            Index most_listed, Index classes_from)
      : model(&of),
        theta(checked_theta(of, start)),
        lam(theta),
        dist(theta),
        partition(of.n_arms(), checked_task(n_clusters, of.n_arms())),
        kl(static_cast<std::size_t>(of.n_arms())) {
    psi::SearchLimits limits;
    if (most_slots > 0) limits.most_slots = most_slots;
    if (most_listed > 0) limits.spare_listed = most_listed, limits.listed_per_arm = 0;
    if (classes_from > 0) limits.classes_from = classes_from;
    search = psi::make_cluster_search(of, limits);
    partition.make(dist);
    weigh(start_weights);
  }
  SearchRun(const SearchRun& x)
      : model(x.model),
        theta(x.theta),
        lam(x.lam),
        dist(x.dist),
        partition(x.partition),
        weights(x.weights),
        kl(x.kl),
        search(static_cast<psi::ClusterSearch*>(x.search->clone().release())),
        answer(x.answer) {}

  double weigh(const Array1& all) {
    const View given = checked_weights(*model, all);
    weights.assign(given.begin(), given.end());
    return find(std::nullopt);
  }
  double step(Index m, const Array1& place, double weight) {
    if (m < 0 || m >= model->n_arms() || place.shape(0) != theta.row(0).size()) throw std::invalid_argument("no such arm");
    std::ranges::copy(view(place), theta.row(m).begin());
    dist.update(theta, m);
    if (partition.update(dist, m)) search->partition_changed(clustered(theta, dist, partition), partition.clusters_before());
    weights[m] = weight;
    return find(m);
  }
  double find(std::optional<Index> moved) {
    lam = theta;
    std::ranges::fill(kl, 0.0);
    answer = search->find(clustered(theta, dist, partition), weights, moved, lam, kl);
    return answer.value;
  }
};

nb::dict memory(const SearchRun& run) {
  nb::dict out;
  for (const auto& [name, kept] : run.search->memory(run.partition.clusters())) {
    const auto to_object = [](const auto& x) {
      if constexpr (std::is_same_v<std::decay_t<decltype(x)>, double>) {
        return nb::cast(x);
      } else if constexpr (std::is_same_v<std::decay_t<decltype(x)>, Matrix>) {
        return nb::cast(to_numpy(x));
      } else {
        return nb::cast(to_numpy(std::span(x)));
      }
    };
    out[name.c_str()] = std::visit(to_object, kept);
  }
  return out;
}

/// Trees of given clusters whose edges are replaced, for isotropic arms.
struct ReplacedEdges {
  Matrix theta;
  Distances dist;
  GivenClusters clusters;
  psi::Spreads spreads;
  psi::ClusterTrees trees;
  psi::NearestBySpread near;
  psi::EdgeReplacer replacer;

  ReplacedEdges(const Model& model, const Array2& places, const Array1& weights, const IntArray1& labels)
      : theta(checked_theta(model, places)),
        dist(theta),
        clusters(dist, checked_labels(model, labels)),
        spreads(IsotropicPairs(model), model.n_arms()),
        trees(model.n_arms()),
        near(model.n_arms(), 4),
        replacer(model.n_arms()) {
    spreads.assign(IsotropicPairs(model), theta, checked_weights(model, weights), std::nullopt);
    trees.fit(now());
    near.make(now(), spreads);
    near.fit(now(), spreads);
  }
  ClusteredArms now() const { return clusters.at(theta, dist); }
  bool replace(Index x, Index a, Index b, double twice) {
    return replacer.replace(now(), spreads, trees, near, clusters.clusters().label(x), x, a, b, twice);
  }
  bool replace_alternative(Index x, Index b, double twice) {
    return replacer.replace_alternative(now(), spreads, trees, clusters.clusters().label(x), x, b, twice);
  }
};

}  // namespace

void bind_psi(nb::module_& m, nb::module_& testing) {
  constexpr auto copied = nb::rv_policy::move;
  nb::class_<PsiResult>(m, "Psi", "The cheapest alternative to a partition.")
      .def_prop_ro("value", [](const PsiResult& x) { return x.answer.value; })
      .def_prop_ro(
          "alternative", [](const PsiResult& x) { return to_numpy(x.lam); }, copied)
      .def_prop_ro(
          "kl", [](const PsiResult& x) { return to_numpy(View(x.kl)); }, copied)
      .def_prop_ro("witness", [](const PsiResult& x) { return to_pairs(x.answer.witness); });
  m.def(
      "psi",
      [](const Model& model, const Array1& weights, const Array2& parameters, const IntArray1& labels,
         const std::optional<Task>& task) { return PsiResult(model, weights, parameters, labels, task); },
      "model"_a, "weights"_a, "theta"_a, "labels"_a, "task"_a = nb::none(),
      "Return psi of any partition against all that are right for a task; without one, of its number of clusters.");

  testing.def(
      "bottleneck",
      [](const Model& model, const Array1& weights, const Array2& parameters, const IntArray1& labels, Index k, Index a, Index b,
         double level, bool by_exchange) {
        const Matrix theta = checked_theta(model, parameters);
        const Distances dist(theta);
        const GivenClusters clusters(dist, checked_labels(model, labels));
        const auto found = psi::make_cluster_search(model)->bottleneck(clusters.at(theta, dist), checked_weights(model, weights),
                                                                       {inf, k, a, b, {}}, level, by_exchange);
        return std::tuple(found.value, found.edge.u, found.edge.v);
      },
      "model"_a, "weights"_a, "theta"_a, "labels"_a, "k"_a, "a"_a, "b"_a, "level"_a = inf, "by_exchange"_a = false,
      "Return the bottleneck of cluster k against (a, b) and its edge; above `level` any value above that.");
  nb::class_<SearchRun>(testing, "SearchRun", "A search for psi that follows arms which move one by one.")
      .def(nb::init<const Model&, const Array2&, const Array1&, Index, Index, Index, Index>(), "model"_a, "theta"_a, "weights"_a,
           "n_clusters"_a, "most_slots"_a = 0, "most_listed"_a = 0, "classes_from"_a = 0, nb::keep_alive<1, 2>())
      .def("step", &SearchRun::step, "arm"_a, "place"_a, "weight"_a, "Move one arm; return psi.")
      .def("weigh", &SearchRun::weigh, "weights"_a, "Give all arms other weights; return psi.")
      .def(
          "find", [](SearchRun& run) { return run.find(std::nullopt); }, "Search again, whatever has changed; return psi.")
      .def("forget", [](SearchRun& run) { run.search->forget(); })
      .def(
          "clone", [](const SearchRun& run) { return new SearchRun(run); }, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def_prop_ro("value", [](const SearchRun& run) { return run.answer.value; })
      .def_prop_ro("witness", [](const SearchRun& run) { return to_pairs(run.answer.witness); })
      .def_prop_ro(
          "theta", [](const SearchRun& run) { return to_numpy(run.theta); }, copied)
      .def_prop_ro(
          "weights", [](const SearchRun& run) { return to_numpy(View(run.weights)); }, copied)
      .def_prop_ro(
          "alternative", [](const SearchRun& run) { return to_numpy(run.lam); }, copied)
      .def_prop_ro(
          "kl", [](const SearchRun& run) { return to_numpy(View(run.kl)); }, copied)
      .def_prop_ro(
          "labels", [](const SearchRun& run) { return to_numpy(run.partition.clusters().labels()); }, copied)
      .def_prop_ro("ambiguous", [](const SearchRun& run) { return run.partition.ambiguous(); })
      .def_prop_ro("costs_evaluated", [](const SearchRun& run) { return run.search->costs_evaluated(); })
      .def_prop_ro("nbytes", [](const SearchRun& run) { return run.search->bytes(); })
      .def("memory", &memory, "Return what the search has kept.");
  nb::class_<ReplacedEdges>(testing, "ReplacedEdges", "Spanning trees of clusters of isotropic arms whose edges are replaced.")
      .def(nb::init<const Model&, const Array2&, const Array1&, const IntArray1&>(), "model"_a, "theta"_a, "weights"_a,
           "labels"_a)
      .def("replace", &ReplacedEdges::replace, "x"_a, "a"_a, "b"_a, "twice"_a)
      .def("replace_alternative", &ReplacedEdges::replace_alternative, "x"_a, "b"_a, "twice"_a)
      .def(
          "parent", [](const ReplacedEdges& x, Index m) { return x.trees.parent(m); }, "m"_a)
      .def(
          "skips", [](const ReplacedEdges& x, Index m) { return x.replacer.skips(m); }, "m"_a)
      .def(
          "alternative",
          [](ReplacedEdges& x, Index m) {
            const auto edge = x.trees.alternative(x.now(), m);
            return std::tuple(edge.inner, edge.outer);
          },
          "m"_a);
}

}  // namespace linkarms::bindings
