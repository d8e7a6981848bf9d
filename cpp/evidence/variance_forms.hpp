// The Gaussian pair problems below the evidence of arms of unknown variance: what their samples say of the
// shape of each arm, and one problem for each such shape.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "family/samples.hpp"
#include "family/variance_shape.hpp"
#include "pair/concave.hpp"
#include "pair/two_arms.hpp"
#include "pair/witness.hpp"

namespace linkarms {

/// The problem for the arms of an oriented witness, in the order u, v, b, a (a shared arm only as u); of a pair under
/// a distance threshold, in the order of `TwoArms`.
class VarianceForms : public QuadraticForms {
 public:
  /// Where the arms are after `solve`, one row each.
  [[nodiscard]] const Matrix& lam() const { return lam_; }
  /// Bring the forms of a lambda that was kept from earlier to what the constraint asks now.
  virtual void renew(std::span<double>) const {}

 protected:
  explicit VarianceForms(Index d) : lam_(4, d) {}
  Matrix lam_;
};

/// The samples and the shapes must outlive it. Here and below.
[[nodiscard]] std::unique_ptr<VarianceForms> make_variance_forms(const Samples& samples, const Witness& w,
                                                                 const std::array<const ArmShape*, 4>& shapes);

/// The same with lengths between clusters that are stretched by a tolerance, for arms whose forms are |D|^2 over one
/// number: only distances count. An arm that moves by x changes |lambda_u - lambda_v| - |lambda_a - lambda_b| by at most
/// x (a shared one by 2x), so that no allowed lambda is left out.
[[nodiscard]] std::unique_ptr<VarianceForms> make_distance_forms(const Samples& samples, const Distances& stretched,
                                                                 const Witness& w, const std::array<const ArmShape*, 4>& shapes);

/// For a merge or a split; the first two shapes count.
[[nodiscard]] std::unique_ptr<VarianceForms> make_two_arm_forms(const Samples& samples, const Limits& limits, const Witness& w,
                                                                const std::array<const ArmShape*, 4>& shapes);

}  // namespace linkarms
