#!/bin/sh
# Build the core in a directory of its own, and put a copy of the package with this core into its `package`.
#     tools/core_build.sh .venv build/debug [options of cmake]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
venv=$(cd "$1" && pwd) build=$2
shift 2
PATH="$venv/bin:$PATH"
# shellcheck disable=SC2086  # several options in one variable, as scikit-build-core takes them
cmake -S "$root" -B "$build" -G Ninja ${CMAKE_ARGS:-} -DPython_EXECUTABLE="$venv/bin/python" "$@" >/dev/null
cmake --build "$build"
rm -rf "$build/package" && mkdir -p "$build/package"
cp -r "$root/src/linkarms" "$build/package/linkarms"
rm -f "$build"/package/linkarms/_core*.so
cp "$build"/_core*.so "$build/package/linkarms/"
# With `package` in PYTHONPATH every process takes this core: an editable install in the environment would come before it.
cat >"$build/package/sitecustomize.py" <<'PYTHON'
import sys

sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__name__.startswith("ScikitBuild")]
PYTHON
