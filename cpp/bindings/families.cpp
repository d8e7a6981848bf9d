#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <concepts>
#include <optional>
#include <sstream>
#include <type_traits>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "bindings/named.hpp"
#include "bindings/user_functions.hpp"
#include "family/confidence_radii.hpp"
#include "math/special.hpp"

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

/// The arm of that index. Throws where there is none.
const Arm& arm_of(const Model& model, Index m) {
  if (m >= 0 && m < model.n_arms()) return model.arm(m);
  throw std::out_of_range("arm=" + std::to_string(m) + ", but there are only " + std::to_string(model.n_arms()) +
                          " arms; choose 0 to " + std::to_string(model.n_arms() - 1));
}

/// What Python gives where the core takes a number or a vector of as many numbers as the model has features.
template <class T>
using Given = std::conditional_t<std::same_as<T, View>, const Array1&, T>;
double taken(const Model&, double x) {
  return x;
}
View taken(const Model& model, const Array1& x) {
  if (static_cast<Index>(x.shape(0)) == model.n_features()) return view(x);
  throw std::invalid_argument("a vector has another length than n_features=" + std::to_string(model.n_features()) +
                              "; give one number per feature");
}

/// A function of an arm, as a method of the model.
template <class... Taken>
auto of_arm(double (Arm::*function)(Taken...) const) {
  return [function](const Model& model, Index arm, Given<Taken>... given) {
    return (arm_of(model, arm).*function)(taken(model, given)...);
  };
}

auto estimate(const Model& model, Index m, const Array1& mean, const std::optional<Array2>& box) {
  const Arm& arm = arm_of(model, m);
  const View given = taken(model, mean);
  const Matrix limits = to_box(box, model.n_features());
  if (limits.rows() != model.n_features() || limits.cols() != 2) {
    throw std::invalid_argument("box has another shape than (n_features, 2); give low and high for each feature");
  }
  std::vector<double> theta(given.size());
  arm.estimate(given, limits, theta);
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
      "log_gamma",
      [](const Array1& x) {
        std::vector<double> out(view(x).begin(), view(x).end());
        for (double& y : out) y = log_gamma(y);
        return to_numpy(View(out));
      },
      "x"_a, "Return the logarithms of the gamma function at numbers above 0.");
  m.def(
      "user_family",
      [](nb::object kl, nb::object step, nb::object fisher, nb::object estimate, nb::object slope_limit, nb::object inflection,
         std::string_view domain, nb::object owner, const std::string& name, double low, double high, bool open) {
        const Domain where = named(domain_names, "domain", domain);
        return NamedScalar{make_user_family(std::move(kl), std::move(step), std::move(fisher), std::move(estimate),
                                            std::move(slope_limit), std::move(inflection), where, std::move(owner), name,
                                            Parameters{low, high, open})};
      },
      nb::kw_only(), "kl"_a.none(), "step"_a.none(), "fisher"_a.none(), "estimate"_a = nb::none(), "slope_limit"_a = nb::none(),
      "inflection"_a = nb::none(), "domain"_a = "line", "owner"_a = nb::none(), "name"_a = "family", "low"_a = -inf,
      "high"_a = inf, "open_ends"_a = false,
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
      .def("kl", of_arm(&Arm::kl), "arm"_a, "theta"_a, "lam"_a, "Return KL(theta, lam) of one sample.")
      .def("fisher", of_arm(&Arm::fisher), "arm"_a, "theta"_a, "Return the largest eigenvalue of the Fisher information.")
      .def("variance", of_arm(&Arm::variance), "arm"_a, "theta"_a,
           "Return the largest variance in any direction, or one over the Fisher information.")
      .def("shift_kl", of_arm(&Arm::shift_kl), "arm"_a, "theta"_a, "eps"_a,
           "Return the sum over coordinates of the larger KL of a step eps either way.")
      .def("estimate", &estimate, "arm"_a, "mean"_a, "box"_a = nb::none(),
           "Return the estimate from the mean of the sufficient statistics, clipped to the box.")
      .def("log_evidence", of_arm(&Arm::log_evidence), "arm"_a, "n"_a, "mean"_a, "lam"_a, "c"_a,
           "Return the log evidence of n samples against lam; NaN where the family has no centred mixture.")
      .def("regret", of_arm(&Arm::regret), "arm"_a, "n"_a, "theta"_a,
           "Return the price of a fixed prior after n samples, rounded up.");
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
