#include "evidence/pairs.hpp"

namespace linkarms {

std::vector<SpreadBounds> IsotropicEvidence::bounds(const Situation& now, double, Index first, const Witness& at) {
  tables_.refresh_all(now.samples);
  std::vector<Index> scales{at.exists() ? best_scale(now, at.oriented(), first) : first};
  for (const Index j : {first, tables_.largest()}) {
    if (std::ranges::find(scales, j) == scales.end()) scales.push_back(j);
  }
  std::vector<SpreadBounds> out;
  for (const Index j : scales) {
    const View spread = tables_.spread(j), price = tables_.price(j);
    out.push_back({{spread.begin(), spread.end()}, {price.begin(), price.end()}});
  }
  return out;
}

}  // namespace linkarms
