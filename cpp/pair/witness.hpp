// A pair of pairs: two arms of one cluster against two arms of different clusters. Under a distance threshold,
// one of the two pairs alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "math/matrix.hpp"

namespace linkarms {

/// The intra pair (u, v), of one cluster, and the inter pair (a, b), of two; they share at most one arm. Under a
/// distance threshold the other pair is missing (-1): a cluster comes apart between u and v, or those of a and b
/// meet. No witness: both are missing.
struct Witness {
  Index u = -1, v = -1, a = -1, b = -1;

  /// The arms, each once.
  class Arms {
   public:
    explicit Arms(const Witness& w) {
      for (const Index m : {w.u, w.v, w.a, w.b}) {
        if (m >= 0 && std::find(begin(), end(), m) == end()) arms_[count_++] = m;
      }
    }
    [[nodiscard]] const Index* begin() const { return arms_.data(); }
    [[nodiscard]] const Index* end() const { return arms_.data() + count_; }

   private:
    std::array<Index, 4> arms_{};
    std::size_t count_ = 0;
  };

  [[nodiscard]] bool exists() const { return u >= 0 || a >= 0; }
  [[nodiscard]] bool is_split() const { return u >= 0 && a < 0; }
  [[nodiscard]] bool is_merge() const { return u < 0 && a >= 0; }
  [[nodiscard]] Arms arms() const { return Arms(*this); }
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
