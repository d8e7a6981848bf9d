"""The machine on which figures were measured."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

__all__ = ["machine"]


def machine() -> dict[str, Any]:
    """Processor, versions and load; nothing that names the host."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "linkarms")},
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
