// The parts of linkarms._core, one function per topic. Bindings convert and handle the GIL; they compute
// nothing.
#pragma once

#include <nanobind/nanobind.h>

namespace linkarms::bindings {

void bind_families(nanobind::module_& m, nanobind::module_& testing);
void bind_formulas(nanobind::module_& testing);
void bind_linkage(nanobind::module_& m, nanobind::module_& testing);
void bind_pairs(nanobind::module_& m, nanobind::module_& testing);
void bind_psi(nanobind::module_& m, nanobind::module_& testing);
void bind_rules(nanobind::module_& m, nanobind::module_& testing);
void bind_engine(nanobind::module_& m);
void bind_aligned(nanobind::module_& testing);
void bind_evidence(nanobind::module_& testing);
void bind_one_sided(nanobind::module_& testing);
void bind_exact(nanobind::module_& m, nanobind::module_& testing);
void bind_plain_loop(nanobind::module_& testing);

}  // namespace linkarms::bindings
