"""Run every proof, or those named: ``python -m evidence [psi_brute_force exact_psi ...]``."""

import sys
from importlib import import_module

PROOFS = (
    "psi_brute_force",
    "exact_psi",
    "exact_savings",
    "exact_stops",
    "paper_figures",
    "error_rates",
    "lower_bound",
    "anytime",
    "versions",
    "audits",
    "goals",
    "goals_brute_force",
    "variance_audits",
    "gap_audits",
    "watched_runs",
    "supermartingales",
    "model_checks",
    "real_tables",
    "bounded",
    "bounded_audits",
    "aligned_infima",
    "aligned_processes",
    "aligned_audits",
    "campaign_crashes",
    "service_crashes",
    "service_fuzz",
    "service_soak",
)

for name in sys.argv[1:] or PROOFS:
    if name not in PROOFS:
        sys.exit(f"there is no proof {name!r}; there are {', '.join(PROOFS)}")
    print(f"== {name}", flush=True)
    import_module(f"evidence.{name}").main([])
