#include "bindings/module.hpp"

namespace nb = nanobind;

NB_MODULE(_core, m) {
#ifdef NDEBUG
  // Objects that a module still holds when the interpreter ends are no news to a user.
  nb::set_leak_warnings(false);
#endif
  m.doc() = "The native core of linkarms: the mathematics that runs after every sample.";
  m.attr("build") = LINKARMS_BUILD;  // a digest of the core's sources
  nb::module_ testing = m.def_submodule("testing", "What only tests call.");
  linkarms::bindings::bind_families(m, testing);
  linkarms::bindings::bind_formulas(testing);
  linkarms::bindings::bind_linkage(m, testing);
  linkarms::bindings::bind_pairs(m, testing);
  linkarms::bindings::bind_psi(m, testing);
  linkarms::bindings::bind_rules(m, testing);
  linkarms::bindings::bind_engine(m);
  linkarms::bindings::bind_aligned(testing);
  linkarms::bindings::bind_evidence(testing);
  linkarms::bindings::bind_one_sided(testing);
  linkarms::bindings::bind_exact(m, testing);
  linkarms::bindings::bind_plain_loop(testing);
}
