#include "evidence/aligned_blend.hpp"

#include <algorithm>
#include <cmath>

#include "math/one_sided.hpp"

namespace linkarms {

Profile::Conjugate Profile::conjugate(double t, double start) const {
  const OneSidedTable& table = OneSidedTable::get();
  double y = start, residue = 0.0, curvature = across_;
  for (int turn = 0; turn < 100; ++turn) {
    double slope = across_ * y;
    curvature = across_;
    for (const Term& x : terms_) {
      const OneSided h = table(x.slope * y);
      slope += x.share * x.slope * h.slope;
      curvature += x.share * x.slope * x.slope * h.curvature;
    }
    residue = slope - t;
    const double step = residue / curvature;
    if (residue * residue <= 2.0 * across_ * tolerance || std::abs(step) <= 1e-15 * std::abs(y)) break;
    y -= step;
  }
  double value = 0.5 * across_ * y * y;
  for (const Term& x : terms_) value += x.share * table(x.slope * y).value;
  return {value - t * y - residue * residue / (2.0 * across_), y, 1.0 / curvature, y - residue / across_};
}

void Blend::set(const AlignedPiece& piece, bool still, const Components& g, double least) {
  constexpr double least_isotropic = 1e-5, floor = 1e-9;
  const std::size_t n = piece.grid_size();
  kept_ = g;
  const auto widest =
      static_cast<std::size_t>(std::max_element(g.begin() + static_cast<std::ptrdiff_t>(2 * n), g.end()) - g.begin());
  double total = 0.0;
  for (std::size_t k = 0; k < g.size(); ++k) {
    if (g[k] < (k < n ? least : least_isotropic)) kept_[k] = k == widest ? std::max(g[k], floor) : 0.0;
    total += kept_[k];
  }
  constant_ = 0.0;
  for (std::size_t k = 0; k < g.size(); ++k) {
    if (kept_[k] == 0.0) continue;
    kept_[k] /= total;
    constant_ += kept_[k] * (piece.log_mass()[k] - std::log(kept_[k]));
  }
  for (std::size_t m = 0; m < piece.size(); ++m) {
    Profile& arm = arms_[m];
    arm.terms_.clear();
    arm.across_ = 0.0;
    const bool inter = piece.arm(m).place() == Place::inter;
    for (std::size_t j = 0; j < n; ++j) {
      const AlignedArm::Terms& x = piece.arm(m)[j];
      const double aligned = kept_[j], isotropic = kept_[2 * n + j] + (inter ? kept_[n + j] : 0.0);
      arm.across_ += isotropic * x.weight + aligned * x.across;
      constant_ -= isotropic * x.price + aligned * x.across_price;
      if (aligned == 0.0 || (still && m == role_u)) continue;
      arm.terms_.push_back({aligned, x.slope});
      constant_ -= aligned * x.along_price;
    }
  }
}

}  // namespace linkarms
