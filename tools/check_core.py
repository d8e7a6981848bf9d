"""Check that Python imports the core of a given package, not one that the environment has: ``python tools/check_core.py PACKAGE``."""

import sys
from pathlib import Path

from linkarms import _core

found, wanted = Path(_core.__file__).resolve().parent, Path(sys.argv[1]).resolve() / "linkarms"
if found != wanted:
    sys.exit(f"the core is that of {found}, not of {wanted}: what follows would test the wrong one")
