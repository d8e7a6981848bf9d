// The Gaussian pair problems below the evidence of arms of unknown variance: what their samples say of the
// shape of each arm, and one problem for each such shape.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "family/samples.hpp"
#include "family/variance_shape.hpp"
#include "pair/concave.hpp"
#include "pair/covariance.hpp"
#include "pair/witness.hpp"

namespace linkarms {

/// The problem for the arms of an oriented witness, in the order u, v, b, a (a shared arm only as u).
class VarianceForms : public QuadraticForms {
 public:
  /// Where the arms are after `solve`, one row each.
  [[nodiscard]] const Matrix& lam() const { return lam_; }

 protected:
  explicit VarianceForms(Index d) : lam_(4, d) {}
  Matrix lam_;
};

/// The samples and the shapes must outlive it.
[[nodiscard]] std::unique_ptr<VarianceForms> make_variance_forms(const Samples& samples, const Witness& w,
                                                                 const std::array<const ArmShape*, 4>& shapes);

}  // namespace linkarms
