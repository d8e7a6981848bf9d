// Choices that have a name in Python and a type in the core.
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "evidence/union.hpp"
#include "family/model.hpp"
#include "family/scalar.hpp"

namespace linkarms::bindings {

/// A coordinate's family as Python holds it.
struct NamedScalar {
  Scalar family;
};

template <class T>
using Names = std::pair<std::string_view, T>;

inline constexpr std::array domain_names{Names<Domain>{"line", Domain::line}, Names<Domain>{"half-line", Domain::half_line},
                                         Names<Domain>{"unit", Domain::unit}};
inline constexpr std::array variances_names{
    Names<Variances>{"known", Variances::known}, Names<Variances>{"separate", Variances::separate},
    Names<Variances>{"shared", Variances::shared}, Names<Variances>{"coordinate", Variances::coordinate},
    Names<Variances>{"full", Variances::full}};
inline constexpr std::array kind_names{Names<Kind>{"isotropic", Kind::isotropic}, Names<Kind>{"covariance", Kind::covariance},
                                       Names<Kind>{"scalar", Kind::scalar}, Names<Kind>{"vector", Kind::vector},
                                       Names<Kind>{"unknown-variance", Kind::unknown_variance}};
inline constexpr std::array promise_names{Names<Promise>{"clusters", Promise::clusters},
                                          Names<Promise>{"every-cut", Promise::every_cut},
                                          Names<Promise>{"threshold", Promise::threshold}};

/// The choice of that name. Throws std::invalid_argument for any other.
template <class Table>
[[nodiscard]] auto named(const Table& table, std::string_view what, std::string_view name) {
  std::string known;
  for (const auto& [key, value] : table) {
    if (key == name) return value;
    known += (known.empty() ? "'" : ", '") + std::string(key) + "'";
  }
  throw std::invalid_argument(std::string(what) + "='" + std::string(name) + "' is not known; choose one of " + known);
}

template <class Table, class T>
[[nodiscard]] std::string_view name_of(const Table& table, T wanted) {
  for (const auto& [key, value] : table) {
    if (value == wanted) return key;
  }
  throw std::logic_error("a choice has no name");
}

}  // namespace linkarms::bindings
