#!/bin/sh
# Build the core with checks in a directory of its own, and run its tests against that build.
#     tools/core_tests.sh .venv debug|sanitize [pytest arguments]
set -eu
venv=$1 kind=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
build="$root/build/$kind"
options="-DLINKARMS_ASSERTIONS=ON"
preload=
if [ "$kind" = sanitize ]; then
  options="$options -DLINKARMS_SANITIZE=address,undefined"
  preload=$(c++ -print-file-name=libasan.so)
fi
export PATH="$root/$venv/bin:$PATH"
cmake -S "$root" -B "$build" -G Ninja $options -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPython_EXECUTABLE="$root/$venv/bin/python" >/dev/null
cmake --build "$build"
# the package with this core in it
rm -rf "$build/package" && mkdir -p "$build/package"
cp -r "$root/src/linkarms" "$build/package/linkarms"
rm -f "$build"/package/linkarms/_core*.so
cp "$build"/_core*.so "$build/package/linkarms/"
cd "$root"
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
LD_PRELOAD="$preload" PYTHONPATH="$build/package" python -m pytest -q -p no:cacheprovider ${@:-tests/test_core_*.py tests/test_recorded.py}
