#include "bindings/module.hpp"

namespace linkarms::bindings {

void bind_psi(nanobind::module_&, nanobind::module_&) {}

}  // namespace linkarms::bindings
