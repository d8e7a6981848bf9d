#include "linkage/distances.hpp"

#include <cmath>

namespace linkarms {

Distances::Distances(const Matrix& points) : d_(points.rows(), points.rows()) {
  for (Index m = 0; m < points.rows(); ++m) update(points, m);
}

void Distances::update(const Matrix& points, Index m) {
  const View here = points.row(m);
  const MutView row = d_.row(m);
  for (Index j = 0; j < points.rows(); ++j) {
    const View there = points.row(j);
    double squares = 0.0;
    for (std::size_t i = 0; i < here.size(); ++i) squares += (here[i] - there[i]) * (here[i] - there[i]);
    row[j] = std::sqrt(squares);
    d_(j, m) = row[j];
  }
}

}  // namespace linkarms
