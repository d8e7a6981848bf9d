// One-sided mixtures of arms with one parameter, for tests.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>

#include "bindings/module.hpp"
#include "evidence/one_sided_piece.hpp"
#include "family/model.hpp"
#include "math/shares.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace linkarms::bindings {

namespace {

/// Arms with their samples under one constraint. All arms of the model take part.
class OneSidedProblem {
 public:
  OneSidedProblem(const Model& model, const std::vector<double>& counts, const std::vector<double>& means,
                  std::vector<double> kappa, const std::vector<double>& grid, double mass, double discount)
      : prior_(grid, discount), kappa_(std::move(kappa)), log_mass_(prior_.log_mass(mass)) {
    const auto n = static_cast<std::size_t>(model.n_arms());
    if (n > 4 || counts.size() != n || means.size() != n || kappa_.size() != n) {
      throw std::invalid_argument("at most four arms, with a count, a mean and a kappa each");
    }
    for (std::size_t m = 0; m < n; ++m) {
      arms_.emplace_back(model.scalar(static_cast<Index>(m)));
      arms_.back().set(counts[m], means[m]);
    }
  }

  [[nodiscard]] std::tuple<double, double, std::vector<double>> infimum(double too_little) const {
    const std::vector<PushedArm> pushed = arms();
    const OneSidedInfimum found = OneSidedSearch().infimum(prior_, pushed, log_mass_, too_little);
    return {found.lower, found.upper, {found.lambda.begin(), found.lambda.begin() + std::ssize(arms_)}};
  }
  [[nodiscard]] double log_evidence(const std::vector<double>& lam) const {
    std::vector<double> sum(prior_.components(), log_mass_), terms;
    for (std::size_t m = 0; m < arms_.size(); ++m) {
      arms_[m].values(prior_, arms()[m].side(), lam.at(m), terms);
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += terms[j];
    }
    return to_shares(sum);
  }
  /// Value, slope and curvature of each component of one arm.
  [[nodiscard]] std::tuple<std::vector<double>, std::vector<double>, std::vector<double>> terms(std::size_t m, double lam) const {
    ShiftTerms out;
    arms_.at(m).terms(prior_, arms()[m].side(), lam, out);
    return {out.value, out.slope, out.curvature};
  }

 private:
  [[nodiscard]] std::vector<PushedArm> arms() const {
    std::vector<PushedArm> out;
    for (std::size_t m = 0; m < arms_.size(); ++m) out.push_back({&arms_[m], kappa_[m]});
    return out;
  }

  ShiftPrior prior_;
  std::vector<double> kappa_;
  double log_mass_;
  std::vector<ShiftedArm> arms_;
};

}  // namespace

void bind_one_sided(nb::module_& testing) {
  using Numbers = std::vector<double>;
  nb::class_<OneSidedProblem>(testing, "OneSidedProblem")
      .def(nb::init<const Model&, const Numbers&, const Numbers&, Numbers, const Numbers&, double, double>(), "model"_a,
           "counts"_a, "means"_a, "kappa"_a, "grid"_a, "mass"_a = 1.0, "discount"_a = 1.0)
      .def("infimum", &OneSidedProblem::infimum, "too_little"_a = -inf)
      .def("log_evidence", &OneSidedProblem::log_evidence, "lam"_a)
      .def("terms", &OneSidedProblem::terms, "arm"_a, "lam"_a);
}

}  // namespace linkarms::bindings
