// A user's own family given from Python: callables, or addresses of C functions.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "family/user_family.hpp"

namespace linkarms::bindings {

/// The numbers that may be a family's parameters.
struct Parameters {
  double low = -inf, high = inf;
  bool open = false;  ///< without the ends
};

/// A family whose functions are Python callables, called with the GIL, or integers: the addresses of C
/// functions double f(double, double) (kl, step) or double f(double) (the others), called without it. None
/// for estimate, slope_limit, inflection: the mean itself, and no limit. `owner` is kept alive as long as the
/// family. What a callable raises comes out as it was raised; a number that a function may not return, and an estimate outside
/// the parameters, raise linkarms.errors.CallbackError with the family's name.
[[nodiscard]] UserFamily make_user_family(nanobind::object kl, nanobind::object step, nanobind::object fisher,
                                          nanobind::object estimate, nanobind::object slope_limit, nanobind::object inflection,
                                          Domain domain, nanobind::object owner, const std::string& name, Parameters parameters);

}  // namespace linkarms::bindings
