#!/bin/sh
# Build the core with checks in a directory of its own, and run its tests against that build.
#     tools/core_tests.sh .venv debug|sanitize [pytest arguments]
# With `threads`, a native program that runs trials on threads, under ThreadSanitizer.
#     tools/core_tests.sh .venv threads
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
venv=$(cd "$1" && pwd) kind=$2
shift 2
build="$root/build/$kind"
flags="-O1 -g1"  # half of the time to compile
sanitizers=
preload=
case $kind in
  debug) flags="-O2 -g" ;;
  sanitize)
    sanitizers=address,undefined
    # exceptions cross AddressSanitizer only where it finds libstdc++ at the start
    preload="$(c++ -print-file-name=libasan.so) $(c++ -print-file-name=libstdc++.so)"
    ;;
  threads) sanitizers=thread ;;
esac
configure() {
  "$@" -DLINKARMS_ASSERTIONS=ON -DLINKARMS_SANITIZE=$sanitizers -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="$flags"
}
if [ "$kind" = threads ]; then
  PATH="$venv/bin:$PATH"
  configure cmake -S "$root" -B "$build" -G Ninja -DPython_EXECUTABLE="$venv/bin/python" >/dev/null
  cmake --build "$build" --target linkarms_threads
  # ThreadSanitizer needs memory where it expects it: addresses that are not random
  TSAN_OPTIONS=halt_on_error=1 exec setarch -R "$build/linkarms_threads"
fi
configure "$root/tools/core_build.sh" "$venv" "$build"
cd "$root"
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export PYTHONPATH="$build/package"
LD_PRELOAD="$preload" "$venv/bin/python" tools/check_core.py "$build/package"
# shellcheck disable=SC2086
LD_PRELOAD="$preload" exec "$venv/bin/python" -m pytest -q -p no:cacheprovider ${@:--n 2 tests/test_core_*.py tests/test_recorded.py}
