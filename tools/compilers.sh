#!/bin/sh
# Build the core with gcc and with clang, make the same runs with both, and compare what they decided.
#     tools/compilers.sh .venv
# Where there is no clang++, the clang of zig from PyPI is used (see tools/compiler.sh).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
venv=$(cd "$1" && pwd)
cd "$root"
CXX=g++ tools/core_build.sh "$venv" build/gcc
if command -v clang++ >/dev/null; then
  CXX=clang++ tools/core_build.sh "$venv" build/clang
else
  LINKARMS_ZIG=1 tools/compiler.sh "$venv" tools/core_build.sh "$venv" build/clang
fi
rm -f build/gcc/decisions.json build/clang/decisions.json
for compiler in gcc clang; do
  PYTHONPATH="build/$compiler/package" "$venv/bin/python" tools/check_core.py "build/$compiler/package"
  PYTHONPATH="build/$compiler/package" "$venv/bin/python" tools/decisions.py write "build/$compiler/decisions.json" &
done
wait
"$venv/bin/python" tools/decisions.py compare build/gcc/decisions.json build/clang/decisions.json
