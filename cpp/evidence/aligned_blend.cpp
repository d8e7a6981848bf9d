#include "evidence/aligned_blend.hpp"

#include <algorithm>
#include <cmath>

#include "math/one_sided.hpp"

namespace linkarms {

Profile::Conjugate Profile::conjugate(double t, double start) const {
  constexpr double gap = 1e-12;
  const OneSidedTable& table = OneSidedTable::get();
  double y = start, value = 0.0, residue = 0.0, curvature = across_;
  for (int turn = 0; turn < 100; ++turn) {
    double slope = across_ * y;
    value = 0.5 * slope * y;
    curvature = across_;
    for (std::size_t j = 0; j < share_.size(); ++j) {
      const OneSided h = table(slope_[j] * y);
      const double weight = share_[j] * slope_[j];
      value += share_[j] * h.value;
      slope += weight * h.slope;
      curvature += weight * slope_[j] * h.curvature;
    }
    residue = slope - t;
    const double step = residue / curvature;
    if (residue * residue <= 2.0 * across_ * gap || std::abs(step) <= 1e-15 * std::abs(y)) break;
    y -= step;
  }
  return {value - t * y - residue * residue / (2.0 * across_), y, 1.0 / curvature};
}

void Blend::set(const AlignedPiece& piece, bool still, const Components& g, double least) {
  constexpr double least_isotropic = 1e-9;
  const std::size_t n = piece.grid_size();
  const auto kept = [&](std::size_t k) { return k < n ? (g[k] < least ? 0.0 : g[k]) : std::max(g[k], least_isotropic); };
  double total = 0.0;
  for (std::size_t k = 0; k < g.size(); ++k) total += kept(k);
  constant_ = 0.0;
  for (std::size_t k = 0; k < g.size(); ++k) {
    const double share = kept(k) / total;
    if (share > 0.0) constant_ += share * (piece.log_mass()[k] - std::log(share));
  }
  for (std::size_t m = 0; m < piece.size(); ++m) {
    Profile& arm = arms_[m];
    arm.share_.clear();
    arm.slope_.clear();
    arm.across_ = 0.0;
    const bool inter = piece.arm(m).place() == Place::inter;
    for (std::size_t j = 0; j < n; ++j) {
      const AlignedArm::Terms& x = piece.arm(m)[j];
      const double aligned = kept(j) / total;
      const double isotropic = (kept(2 * n + j) + (inter ? kept(n + j) : 0.0)) / total;
      arm.across_ += isotropic * x.weight + aligned * x.across;
      constant_ -= isotropic * x.price + aligned * x.across_price;
      if (aligned == 0.0 || (still && m == role_u)) continue;
      arm.share_.push_back(aligned);
      arm.slope_.push_back(x.slope);
      constant_ -= aligned * x.along_price;
    }
  }
}

}  // namespace linkarms
