// The formulas of one number, small matrices and samples, for tests.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "bindings/named.hpp"
#include "family/dominating_variance.hpp"
#include "family/fixed_prior.hpp"
#include "family/mixture.hpp"
#include "family/samples.hpp"
#include "math/simplex.hpp"
#include "math/special.hpp"
#include "math/symmetric.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace linkarms::bindings {

namespace {

constexpr std::array side_names{Names<Side>{"below", Side::below}, Names<Side>{"above", Side::above}};

void bind_functions(nb::module_& m) {
  m.def("phi_reach", &phi_reach, "level"_a, "tolerance"_a);
  m.def("log_gamma", &log_gamma, "x"_a);
  m.def("digamma", &digamma, "x"_a);
  m.def("trigamma", &trigamma, "x"_a);
  m.def(
      "project_simplex",
      [](const Array1& x, const std::optional<Array1>& costs) {
        std::vector<double> w(view(x).begin(), view(x).end());
        if (costs && costs->shape(0) != w.size()) throw std::invalid_argument("costs must be one number per entry");
        project_simplex(w, costs ? view(*costs) : View());
        return to_numpy(View(w));
      },
      "x"_a, "costs"_a = nb::none());
  m.def(
      "symmetric_eigen",
      [](const Array2& a) {
        const Eigen found = symmetric_eigen(to_matrix(a));
        return std::tuple(to_numpy(View(found.values)), to_numpy(found.vectors));
      },
      "a"_a);
  m.def("inverse", [](const Array2& a) { return to_numpy(inverse(to_matrix(a))); }, "a"_a);
}

void bind_scalar_formulas(nb::module_& m) {
  m.def("gain", [](const NamedScalar& f, double theta, double slope, double lam) { return gain(f.family, theta, slope, lam); });
  m.def("log_evidence", [](const NamedScalar& f, double n, double mean, double lam, double c) {
    return log_evidence(f.family, n, mean, lam, c);
  });
  m.def(
      "kl_interval",
      [](const NamedScalar& f, double theta, double level, std::string_view side, double tolerance) {
        return kl_interval(f.family, theta, level, named(side_names, "side", side), tolerance);
      },
      "family"_a, "theta"_a, "level"_a, "side"_a, "tolerance"_a);
  m.def("bernoulli_upper", &bernoulli_upper, "p"_a, "level"_a);
  m.def(
      "dominating_variance",
      [](const NamedScalar& f, double theta, double level, double tolerance) {
        return dominating_variance(f.family, theta, level, tolerance);
      },
      "family"_a, "theta"_a, "level"_a, "tolerance"_a);
  m.def(
      "prior_mass_below",
      [](std::string_view domain, double x) { return prior_mass_below(named(domain_names, "domain", domain), x); }, "domain"_a,
      "x"_a);
  m.def(
      "regret", [](const NamedScalar& f, double n, double theta) { return regret(f.family, n, theta); }, "family"_a, "n"_a,
      "theta"_a);
  m.def(
      "bets",
      [](double low, double high, const Array1& samples) {
        Knots knots;
        for (const double x : view(samples)) knots.add({low, high}, x);
        return Mixture(Bets(Wealth({low, high}, knots.all())));
      },
      "low"_a, "high"_a, "samples"_a);
  nb::class_<Mixture>(m, "Mixture")
      .def(
          "__init__",
          [](Mixture* self, const NamedScalar& f, double n, double mean, double c) { new (self) Mixture(f.family, n, mean, c); },
          "family"_a, "n"_a, "mean"_a, "c"_a)
      .def_prop_ro("minimiser", &Mixture::minimiser)
      .def_prop_ro("minimum", &Mixture::minimum)
      .def_prop_ro("slope_limit", &Mixture::slope_limit)
      .def_prop_ro("inflection", &Mixture::inflection)
      .def("rise", &Mixture::rise, "lam"_a)
      .def("step", &Mixture::step, "slope"_a)
      .def("gain", &Mixture::gain, "lam"_a)
      .def("log_evidence", &Mixture::log_evidence, "lam"_a);
}

void bind_samples(nb::module_& m) {
  nb::class_<Samples>(m, "Samples")
      .def(
          "__init__", [](Samples* self, const Model& model, const Array2& box) { new (self) Samples(model, to_matrix(box)); },
          "model"_a, "box"_a, nb::keep_alive<1, 2>())
      .def(
          "add",
          [](Samples& self, Index m, const Array1& statistic) {
            if (m < 0 || m >= self.n_arms() || statistic.shape(0) != self.mean(0).size()) {
              throw std::invalid_argument("the arm or the sample does not fit the model; give an arm and one number per feature");
            }
            self.add(m, view(statistic));
          },
          "arm"_a, "statistic"_a)
      .def(
          "set",
          [](Samples& self, const IntArray1& counts, const Array2& means, std::vector<Moments> moments) {
            self.set(to_indices(counts), to_matrix(means), std::move(moments));
          },
          "counts"_a, "means"_a, "moments"_a)
      .def_prop_ro("total", &Samples::total)
      .def_prop_ro("every_arm_has_one", &Samples::every_arm_has_one)
      .def_prop_ro(
          "counts", [](const Samples& self) { return to_numpy(self.counts()); }, nb::rv_policy::automatic)
      .def_prop_ro(
          "means", [](const Samples& self) { return to_numpy(self.means()); }, nb::rv_policy::automatic)
      .def_prop_ro(
          "estimates", [](const Samples& self) { return to_numpy(self.estimates()); }, nb::rv_policy::automatic)
      .def("moments", &Samples::moments, "arm"_a)
      .def("precision", &Samples::precision, "arm"_a);
}

}  // namespace

void bind_formulas(nb::module_& testing) {
  bind_functions(testing);
  bind_scalar_formulas(testing);
  bind_samples(testing);
}

}  // namespace linkarms::bindings
