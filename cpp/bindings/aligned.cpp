// Aligned evidence against one piece, for tests.
#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "evidence/aligned_directions.hpp"
#include "evidence/aligned_search.hpp"
#include "evidence/aligned_sweep.hpp"
#include "math/one_sided.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace linkarms::bindings {

namespace {

/// A piece that owns its statistics. Arms in the order u, v, b, a; three of them: u = a is shared.
class OwnedPiece {
 public:
  OwnedPiece(const Array2& means, const Array1& counts, const Array1& variances, std::vector<double> grid, double ratio,
             double isotropic)
      : rule_(std::move(grid), ratio, isotropic), means_(to_matrix(means)) {
    const Index n = means_.rows();
    if ((n != 3 && n != 4) || counts.shape(0) != means.shape(0) || variances.shape(0) != means.shape(0))
      throw std::invalid_argument("three or four arms, with a count and a variance each");
    for (Index m = 0; m < n; ++m) {
      const bool intra = m == role_v || (m == role_u && n == 4);
      arms_.emplace_back(rule_, means_.cols(), intra ? Place::intra : Place::inter, counts.data()[m], variances.data()[m]);
    }
  }
  [[nodiscard]] AlignedPiece view() const {
    std::array<const AlignedArm*, 4> arms{};
    std::array<View, 4> means;
    for (std::size_t m = 0; m < arms_.size(); ++m) {
      arms[m] = &arms_[m];
      means[m] = means_.row(static_cast<Index>(m));
    }
    return {rule_, arms, means, arms_.size() == 3};
  }
  /// Call f with the piece, a dual that is solved for the directions, and its value.
  template <class F>
  auto solved(const Directions& at, F f) const {
    const AlignedPiece piece = view();
    const auto with = [&](const auto& geometry) {
      constexpr Shift little{0.1, 0.01};
      AlignedDual dual(piece, {little, little, little, little}, 1.0);
      const double value = dual.solve(geometry.frame(at), inf, 1e-6);
      return f(geometry, dual, value);
    };
    return piece.shared() ? with(SharedDirections(piece)) : with(FourDirections(piece));
  }

 private:
  AlignedRule rule_;
  Matrix means_;
  std::vector<AlignedArm> arms_;
};

void bind_piece(nb::module_& m) {
  nb::class_<OwnedPiece>(m, "AlignedPiece")
      .def(nb::init<const Array2&, const Array1&, const Array1&, std::vector<double>, double, double>(), "means"_a, "counts"_a,
           "variances"_a, "grid"_a, "ratio"_a, "isotropic"_a)
      .def("log_evidence", [](const OwnedPiece& x, const Array2& lam) { return x.view().log_evidence(to_matrix(lam)); })
      .def("after",
           [](const OwnedPiece& x, const OwnedPiece& later, const Array2& lam, std::size_t arm) {
             AlignedPoint point(x.view(), to_matrix(lam));
             point.refresh(later.view(), arm);
             return point.value(later.view());
           })
      .def("conjugates",
           [](const OwnedPiece& x, const Components& g, double t) {
             Blend blend;
             const AlignedPiece piece = x.view();
             blend.set(piece, false, g, 1e-3);
             std::vector<std::tuple<double, double, double>> out;
             for (std::size_t arm = 0; arm < piece.size(); ++arm) {
               const Profile::Conjugate k = blend[arm].conjugate(t, 0.0);
               out.emplace_back(k.value, k.y, k.spread);
             }
             return std::tuple(blend.constant(), out);
           })
      .def("value",
           [](const OwnedPiece& x, const Directions& at) {
             return x.solved(at, [&](const auto& geometry, const AlignedDual& dual, double value) {
               return std::tuple(value, x.view().log_evidence(geometry.lambda(dual, at)));
             });
           })
      .def("box_bound",
           [](const OwnedPiece& x, const Directions& at, const Directions& low, const Directions& high) {
             return x.solved(at, [&](const auto& geometry, const AlignedDual& dual, double value) {
               return geometry.bound(dual, value, at, {low, high, -inf}).value;
             });
           })
      .def("sweep",
           [](const OwnedPiece& x, const Directions& at, const Directions& low, const Directions& high, double level) {
             return x.solved(at, [&](const auto& geometry, const AlignedDual& dual, double) {
               DirectionSweep sweep(geometry.pairs(), low, high);
               sweep.raise(dual, level);
               std::vector<std::tuple<double, double, double>> out;  // beta, gamma and the bound of each cell
               for (std::size_t i = 0; i < DirectionSweep::n_gamma; ++i) {
                 for (std::size_t j = 0; j < DirectionSweep::n_beta; ++j) {
                   out.emplace_back(sweep.edge_of_beta(j), sweep.edge_of_gamma(i), sweep.bound(j, i));
                 }
               }
               return out;
             });
           })
      .def("descent",
           [](const OwnedPiece& x, const Vector3& free) {
             const AlignedPiece piece = x.view();
             const Directions at =
                 piece.shared() ? SharedDirections(piece).directions(free) : FourDirections(piece).directions(free);
             return x.solved(at, [&](const auto& geometry, const AlignedDual& dual, double value) {
               return std::tuple(at, value, geometry.gradient(dual, free));
             });
           })
      .def(
          "bracket",
          [](const OwnedPiece& x, double enough, double too_little, double gap, int boxes) {
            const Bracket found = bracket_infimum(x.view(), {enough, too_little, gap, boxes});
            return std::tuple(found.lower, found.upper, to_numpy(found.point.lambda()), found.boxes);
          },
          "enough"_a = inf, "too_little"_a = -inf, "gap"_a = 2e-3, "boxes"_a = 2000);
}

}  // namespace

void bind_aligned(nb::module_& testing) {
  testing.def("one_sided", [](double z) {
    const OneSided h = one_sided(z);
    return std::tuple(h.value, h.slope, h.curvature);
  });
  testing.def("one_sided_table", [](double z) {
    const OneSided h = OneSidedTable::get()(z);
    return std::tuple(h.value, h.slope, h.curvature);
  });
  bind_piece(testing);
}

}  // namespace linkarms::bindings
