"""Schemathesis in full against the service, ten minutes in runs that can be added later: ``python -m evidence.service_fuzz [--seconds N]``.

All its phases (coverage of the schema, fuzzing, and stateful sequences of requests), positive and negative, on SQLite. There may be no
5xx, no answer that the OpenAPI description does not know, none that takes longer than two seconds; and afterwards every campaign has to
equal a replay of its log.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx
from tests.service_process import Service
from tests.test_service import COFFEE

from evidence._store import Store
from linkarms.campaign import Campaign

SECONDS, SLOWEST = 600, 2.0
#: A body that is too long for its route is rejected with 413 before it is compared with the description.
SETTINGS = """
[checks.negative_data_rejection]
expected-statuses = ["400", "404", "405", "406", "409", "413", "415", "422"]
"""
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "unsupported_method",
)


def fuzz(folder, seconds, seed=0):
    """One run; returns what was found, with `wrong` empty if there was nothing to complain of."""
    report, settings = Path(folder) / "report.json", Path(folder) / "schemathesis.toml"
    settings.write_text(SETTINGS, encoding="utf-8")
    with Service(Path(folder) / "runs.db") as service:
        httpx.post(f"{service.url}/api/v1/campaigns", json=COFFEE, timeout=60).raise_for_status()
        httpx.get(f"{service.url}/api/v1/campaigns/coffee/view", timeout=300).raise_for_status()
        command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(settings)]
        command += ["run", f"{service.url}/openapi.json"]
        command += ["--max-time", str(seconds), "--max-response-time", str(SLOWEST), "--seed", str(seed)]
        command += ["--checks", ",".join(CHECKS), "--exclude-path", "/api/v1/events"]  # a stream has no end
        command += [
            "--continue-on-failure",
            "--no-color",
            "--report",
            "json",
            "--report-json-path",
            str(report),
        ]
        command += ["--max-examples", "1000", "--generation-database", "none"]
        began = time.perf_counter()
        ran = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=seconds + 600)
        took = time.perf_counter() - began
        metrics = httpx.get(f"{service.url}/metrics", timeout=60).text
        code = service.stop()
    statuses = {}
    for status, n in re.findall(r'linkarms_requests_total\{[^}]*status="(\d+)"\} (\d+)', metrics):
        statuses[status] = statuses.get(status, 0) + int(n)
    wrong = [] if ran.returncode == 0 else [ran.stdout[-20_000:] + ran.stderr[-2_000:]]
    wrong += [
        f"{n} answers {status}" for status, n in statuses.items() if int(status) >= 500 and status != "503"
    ]
    wrong += [f"the service ended with {code}"] if code else []
    for name in Campaign.names(Path(folder) / "runs.db"):
        checkup = Campaign.open(name, Path(folder) / "runs.db").doctor()
        wrong += [] if checkup.ok else [f"{name}: {checkup.difference}"]
    return {
        "seed": seed,
        "seconds": round(took, 1),
        "requests": sum(statuses.values()),
        "statuses": dict(sorted(statuses.items())),
        "phases": json.loads(report.read_text()).get("phases") if report.exists() else None,
        "wrong": wrong,
    }


def table(data):
    """The table of docs/what-it-survives.md."""
    runs, statuses = data["runs"], Counter()
    for run in runs:
        statuses.update(run["statuses"])
    shown = ", ".join(f"{n:,} of {status}" for status, n in sorted(statuses.items()))
    return (
        "| runs | seconds | requests | answers by status | found wrong |\n|---|---|---|---|---|\n"
        f"| {len(runs)} | {sum(run['seconds'] for run in runs):,.0f} | {statuses.total():,} | {shown} | "
        f"{sum(len(run['wrong']) for run in runs)} |"
    )


def main(arguments=None):
    """Add runs, each with a seed of its own, until they have taken ``--seconds`` in all; what is there is kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="of all runs together")
    parser.add_argument("--slice", type=int, default=150, help="seconds of one run")
    given = parser.parse_args(arguments)
    store = Store(Path(__file__).with_suffix(".json"), "python -m evidence.service_fuzz")
    runs = store.data.setdefault("runs", [])
    while (left := given.seconds - sum(run["seconds"] for run in runs)) > 1:
        with tempfile.TemporaryDirectory() as folder:
            runs.append(fuzz(folder, int(min(left, given.slice)) + 1, len(runs)))
        store.save()
        print(json.dumps(runs[-1])[:5_000], flush=True)


if __name__ == "__main__":
    main()
