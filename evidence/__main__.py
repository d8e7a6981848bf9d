"""Run every proof, or those named: ``python -m evidence [psi_brute_force error_rates audits ...]``."""

import sys
from importlib import import_module

PROOFS = (
    "psi_brute_force",
    "paper_figures",
    "error_rates",
    "lower_bound",
    "audits",
    "supermartingales",
    "campaign_crashes",
)

for name in sys.argv[1:] or PROOFS:
    if name not in PROOFS:
        sys.exit(f"there is no proof {name!r}; there are {', '.join(PROOFS)}")
    print(f"== {name}", flush=True)
    import_module(f"evidence.{name}").main([])
