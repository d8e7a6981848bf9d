#!/bin/sh
# Install the package in an environment, editable, with extras. What they need is installed while the core is compiled: pip uses one
# processor and often waits.
#     tools/install.sh .venv cli plots
set -eu
cd "$(dirname "$0")/.."
venv=$1
shift
"$venv/bin/python" tools/requirements.py "$@" >"$venv/requirements.txt"
"$venv/bin/python" -m pip install -q -r "$venv/requirements.txt" &
needed=$!
trap 'kill "$needed" 2>/dev/null || true' EXIT
tools/compiler.sh "$venv" "$venv/bin/python" -m pip install -q --no-build-isolation --no-deps -e .
wait "$needed"
trap - EXIT
