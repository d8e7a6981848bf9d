// Pair problems, for tests: the engine calls them from C++ only.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "bindings/named.hpp"
#include "math/constants.hpp"
#include "pair/linear.hpp"
#include "pair/poles.hpp"
#include "pair/problem.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace linkarms::bindings {

namespace {

/// One pair problem with all that it needs.
class PosedPair {
 public:
  /// Call `with` on the solver of the model, whatever its type.
  template <class With>
  auto visit(With with) {
    return problem_ ? with(*problem_) : with(*isotropic_);
  }

  PosedPair(const Model& model, const Array2& theta, const Array1& weights, const Pairs& pairs)
      : theta_(to_matrix(theta)), dist_(theta_), weight_(view(weights).begin(), view(weights).end()) {
    const auto [u, v, a, b] = pairs;
    for (const Index m : {u, v, a, b}) {
      if (m < 0 || m >= model.n_arms()) throw std::invalid_argument("arm " + std::to_string(m) + " is out of range");
    }
    if (theta_.rows() != model.n_arms() || theta_.cols() != model.n_features() ||
        theta_.rows() != static_cast<Index>(weight_.size())) {
      throw std::invalid_argument("theta and weights do not fit the model");
    }
    witness_ = Witness{u, v, a, b}.oriented();
    if (model.kind() == Kind::isotropic || model.kind() == Kind::unknown_variance) {
      isotropic_.emplace(model);
    } else {
      problem_ = make_pair_problem(model);
    }
    visit([&](auto& problem) {
      for (Index m = 0; m < model.n_arms(); ++m) spread_.push_back(problem.spread(m, theta_.row(m), weight_[m], -1.0));
    });
  }

  [[nodiscard]] Weighted at() const { return {theta_, dist_, weight_, spread_}; }
  [[nodiscard]] const Witness& witness() const { return witness_; }
  [[nodiscard]] Matrix lam() const { return theta_; }

 private:
  Matrix theta_;
  Distances dist_;
  std::vector<double> weight_, spread_;
  Witness witness_;
  std::unique_ptr<PairProblem> problem_;  ///< of a model that is not isotropic
  std::optional<IsotropicPairs> isotropic_;
};

/// A number with what its cost belongs to.
struct OwnedNumber {
  Number number;
  std::shared_ptr<const Scalar> family;
  std::shared_ptr<const Mixture> mixture;
};

OwnedNumber divergence(const NamedScalar& named, double theta, double weight, double kappa) {
  auto family = std::make_shared<const Scalar>(named.family);
  return {{.theta = theta, .weight = weight, .kappa = kappa, .kind = family.get()}, family, nullptr};
}

OwnedNumber mixture(const NamedScalar& named, double n, double mean, double c, double weight, double kappa) {
  auto kept = std::make_shared<const Mixture>(named.family, n, mean, c);
  return {{.theta = kept->minimiser(), .weight = weight, .kappa = kappa, .kind = kept.get()}, nullptr, kept};
}

/// Call `solve` on the numbers; its answer and where they went.
template <class Solve>
auto solved(const std::vector<OwnedNumber>& owned, Solve solve) {
  if (owned.size() > most_numbers) throw std::invalid_argument("too many numbers");
  std::vector<Number> numbers;
  for (const OwnedNumber& x : owned) numbers.push_back(x.number);
  const double value = solve(std::span(numbers));
  std::vector<double> lam;
  for (const Number& x : numbers) lam.push_back(x.lam);
  return std::tuple(value, to_numpy(View(lam)));
}

}  // namespace

void bind_pairs(nb::module_&, nb::module_& testing) {
  testing.def(
      "pair_cost",
      [](const Model& model, const Array2& theta, const Array1& weights, const Pairs& pairs, double level) {
        PosedPair posed(model, theta, weights, pairs);
        return posed.visit([&](auto& problem) { return problem.cost(posed.at(), posed.witness(), level); });
      },
      "model"_a, "theta"_a, "weights"_a, "pairs"_a, "level"_a = inf,
      "Return the cost of (u, v) against (a, b), or above `level` any value above it that the cost reaches.");
  testing.def(
      "tolerant_cost",
      [](const Model& model, const Array2& theta, const Array1& weights, const Pairs& pairs, double tolerance) {
        PosedPair posed(model, theta, weights, pairs);
        // every distance but that of the intra pair as if it were between clusters
        const Witness& w = posed.witness();
        const Distances& dist = posed.at().dist;
        Distances lengths(dist.size());
        for (Index i = 0; i < dist.size(); ++i) {
          for (Index j = 0; j < i; ++j) lengths.set(i, j, dist(i, j) + tolerance);
        }
        lengths.set(w.u, w.v, dist(w.u, w.v));
        const Weighted at = posed.at();
        return make_pair_problem(model, tolerance)->cost({at.theta, lengths, at.weight, at.spread}, w, inf);
      },
      "model"_a, "theta"_a, "weights"_a, "pairs"_a, "tolerance"_a,
      "Return the cost of (u, v) against (a, b) with a tolerance above 0.");
  testing.def(
      "pair_solution",
      [](const Model& model, const Array2& theta, const Array1& weights, const Pairs& pairs) {
        PosedPair posed(model, theta, weights, pairs);
        Matrix lam = posed.lam();
        posed.visit([&](auto& problem) { problem.solve(posed.at(), posed.witness(), lam); });
        return to_numpy(lam);
      },
      "model"_a, "theta"_a, "weights"_a, "pairs"_a, "Return the minimiser of a pair cost.");
  testing.def(
      "pair_bound",
      [](const Model& model, const Array2& theta, const Array1& weights, const Pairs& pairs, double level) {
        PosedPair posed(model, theta, weights, pairs);
        return posed.visit([&](auto& problem) { return problem.bound(posed.at(), posed.witness(), level); });
      },
      "model"_a, "theta"_a, "weights"_a, "pairs"_a, "level"_a = inf,
      "Return a lower bound of a pair cost, or any that reaches `level`.");
  testing.def(
      "arm_spread",
      [](const Model& model, Index m, const Array1& theta, double weight, double level) {
        return make_pair_problem(model)->spread(m, view(theta), weight, level);
      },
      "model"_a, "arm"_a, "theta"_a, "weight"_a, "level"_a, "Return the spread of an arm at a level.");

  nb::class_<OwnedNumber>(testing, "Number", "One number of a problem under a linear constraint.")
      .def_static("divergence", &divergence, "family"_a, "theta"_a, "weight"_a, "kappa"_a)
      .def_static("mixture", &mixture, "family"_a, "n"_a, "mean"_a, "c"_a, "weight"_a, "kappa"_a)
      .def_static(
          "student",
          [](double a, double b, double kappa) { return OwnedNumber{{.kappa = kappa, .kind = Student{a, b}}, {}, {}}; }, "a"_a,
          "b"_a, "kappa"_a)
      .def_static(
          "unknown_variance",
          [](double n, double squares, double c, double kappa) {
            return OwnedNumber{{.kappa = kappa, .kind = VarianceMixture(n, squares, c, 1.0)}, {}, {}};
          },
          "n"_a, "squares"_a, "c"_a, "kappa"_a)
      .def_static(
          "fixed",
          [](double theta, double kappa) { return OwnedNumber{{.theta = theta, .kappa = kappa, .kind = Fixed{}}, {}, {}}; },
          "theta"_a, "kappa"_a)
      .def(
          "cost", [](const OwnedNumber& x, double lam) { return x.number.cost(lam); }, "lam"_a)
      .def_prop_ro("theta", [](const OwnedNumber& x) { return x.number.theta; })
      .def_prop_ro("inflection", [](const OwnedNumber& x) { return x.number.inflection(); });
  testing.def(
      "variance_spread",
      [](double n, double squares, double c, double cost) { return VarianceMixture(n, squares, c, 1.0).spread(cost); }, "n"_a,
      "squares"_a, "c"_a, "cost"_a, "Return the spread of an arm of unknown variance up to a cost.");
  testing.def(
      "linear_cost",
      [](const std::vector<OwnedNumber>& numbers, double level) {
        return solved(numbers, [level](std::span<Number> x) { return linear_cost(x, level); });
      },
      "numbers"_a, "level"_a = inf, "Return the smallest cost under one linear constraint, and where the numbers go.");
  testing.def(
      "convex_cost",
      [](const std::vector<OwnedNumber>& numbers) { return solved(numbers, [](std::span<Number> x) { return convex_cost(x); }); },
      "numbers"_a, "Return the smallest cost before the inflections, and where the numbers go.");
  testing.def(
      "has_poles",
      [](const std::vector<OwnedNumber>& numbers) {
        std::vector<Number> plain;
        for (const OwnedNumber& x : numbers) plain.push_back(x.number);
        return has_poles(plain);
      },
      "numbers"_a, "Return whether the steps of all numbers have a pole.");
}

}  // namespace linkarms::bindings
