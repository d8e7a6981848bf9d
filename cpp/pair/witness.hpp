// A pair of pairs: two arms of one cluster against two arms of different clusters.
#pragma once

#include <utility>

#include "math/matrix.hpp"

namespace linkarms {

/// The intra pair (u, v), of one cluster, and the inter pair (a, b), of two; they share at most one arm.
/// No witness: u is negative.
struct Witness {
  Index u = -1, v = -1, a = -1, b = -1;

  [[nodiscard]] bool exists() const { return u >= 0; }
  /// Whether the two pairs share an arm. Only for a witness that has been oriented.
  [[nodiscard]] bool shared() const { return u == a; }
  /// The same pairs with the shared arm, if there is one, first in both. Every pair problem is posed in this
  /// order.
  [[nodiscard]] Witness oriented() const {
    Witness w = *this;
    if (w.v == w.a || w.v == w.b) std::swap(w.u, w.v);
    if (w.u == w.b) std::swap(w.a, w.b);
    return w;
  }
  friend bool operator==(const Witness&, const Witness&) = default;
};

}  // namespace linkarms
