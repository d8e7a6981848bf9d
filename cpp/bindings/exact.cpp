#include "bindings/module.hpp"

namespace linkarms::bindings {

void bind_exact(nanobind::module_&, nanobind::module_&) {}

}  // namespace linkarms::bindings
