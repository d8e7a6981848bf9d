#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <sstream>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "bindings/named.hpp"
#include "bindings/user_functions.hpp"
#include "family/radii.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace linkarms::bindings {

namespace {

double positive(const char* name, double value) {
  if (!(value > 0.0 && std::isfinite(value))) {
    std::ostringstream message;
    message << name << "=" << value << "; give a finite number above 0";
    throw std::invalid_argument(message.str());
  }
  return value;
}

Arm arm_of_coordinates(const std::vector<NamedScalar>& coordinates) {
  std::vector<Scalar> families;
  for (const NamedScalar& f : coordinates) families.push_back(f.family);
  return Arm(std::move(families));
}

/// The arm of that index, where the vectors have its dimension.
template <class... Arrays>
const Arm& arm_for(const Model& model, Index m, const Arrays&... vectors) {
  if (m < 0 || m >= model.n_arms()) {
    throw std::out_of_range("arm=" + std::to_string(m) + ", but there are only " + std::to_string(model.n_arms()) +
                            " arms; choose 0 to " + std::to_string(model.n_arms() - 1));
  }
  const auto d = static_cast<std::size_t>(model.n_features());
  if (((vectors.shape(0) != d) || ...)) {
    throw std::invalid_argument("a vector has another length than n_features=" + std::to_string(d) +
                                "; give one number per feature");
  }
  return model.arm(m);
}

auto estimate(const Model& model, Index m, const Array1& mean, const std::optional<Array2>& box) {
  const Arm& arm = arm_for(model, m, mean);
  std::vector<double> theta(mean.shape(0));
  Matrix limits(model.n_features(), 2);
  if (box) {
    limits = to_matrix(*box);
    if (limits.rows() != model.n_features() || limits.cols() != 2) {
      throw std::invalid_argument("box has another shape than (n_features, 2); give low and high for each feature");
    }
  } else {
    for (Index i = 0; i < limits.rows(); ++i) limits(i, 0) = -(limits(i, 1) = inf);
  }
  arm.estimate(view(mean), limits, theta);
  return to_numpy(View(theta));
}

auto radii(const Model& model, const IntArray1& counts, const Array2& means, const Array2& directions, double delta,
           const std::optional<std::vector<Moments>>& moments) {
  const std::vector<Index> n = to_indices(counts);
  const Matrix mean = to_matrix(means), steps = to_matrix(directions);
  const auto kept = moments ? std::span<const Moments>(*moments) : std::span<const Moments>();
  Matrix found;
  {
    const nb::gil_scoped_release released;  // families of Python functions have no regions
    found = confidence_radii(model, n, mean, steps, delta, kept);
  }
  return to_numpy(found);
}

void bind_scalars(nb::module_& m) {
  nb::class_<NamedScalar>(m, "Scalar", "The distribution of one number, known up to one parameter.")
      .def(
          "kl", [](const NamedScalar& f, double theta, double lam) { return kl(f.family, theta, lam); }, "theta"_a, "lam"_a,
          "Return KL(theta, lam) of one sample.")
      .def(
          "step", [](const NamedScalar& f, double theta, double slope) { return step(f.family, theta, slope); }, "theta"_a,
          "slope"_a, "Return the lam that minimises KL(theta, lam) - slope lam, before the inflection.")
      .def(
          "fisher", [](const NamedScalar& f, double theta) { return fisher(f.family, theta); }, "theta"_a,
          "Return the Fisher information of one sample.")
      .def(
          "estimate", [](const NamedScalar& f, double mean) { return estimate(f.family, mean); }, "mean"_a,
          "Return the maximum likelihood estimate.")
      .def(
          "slope_limit", [](const NamedScalar& f, double theta) { return slope_limit(f.family, theta); }, "theta"_a,
          "Return the slope at which the step becomes infinite.")
      .def(
          "inflection", [](const NamedScalar& f, double theta) { return inflection(f.family, theta); }, "theta"_a,
          "Return where KL(theta, .) stops being convex.");
  m.def(
      "gaussian", [](double variance) { return NamedScalar{Gaussian{positive("variance", variance)}}; }, "variance"_a,
      "Return Gaussian samples with known variance, by their mean.");
  m.def(
      "gamma_rate", [](double shape) { return NamedScalar{GammaRate{positive("shape", shape)}}; }, "shape"_a,
      "Return gamma samples with known shape, by their rate; shape 1 is the exponential distribution.");
  m.def(
      "gamma_mean", [](double shape) { return NamedScalar{GammaMean{positive("shape", shape)}}; }, "shape"_a,
      "Return gamma samples with known shape, by their mean.");
  m.def("bernoulli", [] { return NamedScalar{Bernoulli{}}; }, "Return samples 0 or 1, by the probability of a 1.");
  m.def("poisson", [] { return NamedScalar{Poisson{}}; }, "Return counts, by their mean.");
  m.def(
      "user_family",
      [](nb::object kl, nb::object step, nb::object fisher, nb::object estimate, nb::object slope_limit, nb::object inflection,
         std::string_view domain, nb::object owner) {
        const Domain where = named(domain_names, "domain", domain);
        return NamedScalar{make_user_family(std::move(kl), std::move(step), std::move(fisher), std::move(estimate),
                                            std::move(slope_limit), std::move(inflection), where, std::move(owner))};
      },
      nb::kw_only(), "kl"_a.none(), "step"_a.none(), "fisher"_a.none(), "estimate"_a = nb::none(), "slope_limit"_a = nb::none(),
      "inflection"_a = nb::none(), "domain"_a = "line", "owner"_a = nb::none(),
      "Return a family of a user's own functions: Python callables, or addresses of C functions of doubles.");
}

void bind_model(nb::module_& m) {
  nb::class_<Arm>(m, "Arm", "The distribution of one arm's samples.")
      .def_static("coordinates", &arm_of_coordinates, "families"_a, "Return an arm of independent coordinates.")
      .def_static(
          "bounded", [](double low, double high) { return Arm(SampleBounds{low, high}); }, "low"_a, "high"_a,
          "Return an arm whose samples are numbers between bounds.")
      .def_static(
          "covariance", [](const Array2& matrix) { return gaussian_arm(to_matrix(matrix)); }, "matrix"_a,
          "Return a Gaussian arm with known covariance.")
      .def_static(
          "categories", [](Index n) { return Arm(Categories{n}); }, "n"_a,
          "Return an arm whose samples are indicators of n categories.")
      .def_prop_ro("n_features", &Arm::dimension);
  nb::class_<Model>(m, "Model", "The families of all arms. Never changes.")
      .def(
          "__init__",
          [](Model* self, std::vector<Arm> arms, Index n_features, std::string_view variances) {
            new (self) Model(std::move(arms), n_features, named(variances_names, "variances", variances));
          },
          "arms"_a, "n_features"_a, "variances"_a = "known")
      .def_prop_ro("n_arms", &Model::n_arms)
      .def_prop_ro("n_features", &Model::n_features)
      .def_prop_ro("kind", [](const Model& self) { return name_of(kind_names, self.kind()); })
      .def_prop_ro("variances", [](const Model& self) { return name_of(variances_names, self.variances()); })
      .def_prop_ro("has_user_family", &Model::has_user_family)
      .def_prop_ro("chart_dimension", &Model::chart_dimension)
      .def(
          "kl",
          [](const Model& self, Index arm, const Array1& theta, const Array1& lam) {
            return arm_for(self, arm, theta, lam).kl(view(theta), view(lam));
          },
          "arm"_a, "theta"_a, "lam"_a, "Return KL(theta, lam) of one sample.")
      .def(
          "fisher",
          [](const Model& self, Index arm, const Array1& theta) { return arm_for(self, arm, theta).fisher(view(theta)); },
          "arm"_a, "theta"_a, "Return the largest eigenvalue of the Fisher information.")
      .def(
          "variance",
          [](const Model& self, Index arm, const Array1& theta) { return arm_for(self, arm, theta).variance(view(theta)); },
          "arm"_a, "theta"_a, "Return the largest variance in any direction, or one over the Fisher information.")
      .def(
          "shift_kl",
          [](const Model& self, Index arm, const Array1& theta, double eps) {
            return arm_for(self, arm, theta).shift_kl(view(theta), eps);
          },
          "arm"_a, "theta"_a, "eps"_a, "Return the sum over coordinates of the larger KL of a step eps either way.")
      .def("estimate", &estimate, "arm"_a, "mean"_a, "box"_a = nb::none(),
           "Return the estimate from the mean of the sufficient statistics, clipped to the box.")
      .def(
          "log_evidence",
          [](const Model& self, Index arm, double n, const Array1& mean, const Array1& lam, double c) {
            return arm_for(self, arm, mean, lam).log_evidence(n, view(mean), view(lam), c);
          },
          "arm"_a, "n"_a, "mean"_a, "lam"_a, "c"_a,
          "Return the log evidence of n samples against lam; NaN where the family has no centred mixture.")
      .def(
          "regret",
          [](const Model& self, Index arm, double n, const Array1& theta) {
            return arm_for(self, arm, theta).regret(n, view(theta));
          },
          "arm"_a, "n"_a, "theta"_a, "Return the price of a fixed prior after n samples, rounded up.")
      .def(
          "reach",
          [](const Model& self, Index arm, const Array1& theta, double level) {
            return arm_for(self, arm, theta).reach(view(theta), level);
          },
          "arm"_a, "theta"_a, "level"_a, "Return how far from theta the divergence can be at most level.");
}

}  // namespace

void bind_families(nb::module_& m, nb::module_&) {
  bind_scalars(m);
  bind_model(m);
  nb::class_<Moments>(m, "Moments", "What is kept of one arm's samples where the variance is unknown.")
      .def(nb::init<>())
      .def_rw("predicted", &Moments::predicted)
      .def_rw("squares", &Moments::squares)
      .def_rw("log_predictive", &Moments::log_predictive)
      .def_rw("all_squares", &Moments::all_squares)
      .def_rw("mean", &Moments::mean)
      .def_rw("scatter", &Moments::scatter);
  m.def("confidence_radii", &radii, "model"_a, "counts"_a, "means"_a, "directions"_a, "delta"_a, "moments"_a = nb::none(),
        "Return how far the confidence region of each arm reaches from its estimate along each direction.");
}

}  // namespace linkarms::bindings
