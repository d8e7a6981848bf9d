#!/bin/sh
# Run a command with a C++ compiler: the one that is there, or `zig c++` from PyPI in the environment given.
#     tools/compiler.sh .venv pip install ...
# With LINKARMS_ZIG in the environment it is zig whatever is there.
set -eu
venv=$1
shift
has_compiler() {
  [ -n "${CXX:-}" ] || command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null
}
if [ -z "${LINKARMS_ZIG:-}" ] && has_compiler; then
  exec "$@"
fi
echo "linkarms: no C++ compiler found; using zig c++ from PyPI (ziglang) in $venv" >&2
"$venv/bin/python" -m pip install -q ziglang
zig=$("$venv/bin/python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
bin=$(cd "$venv/bin" && pwd)
# The plain instruction set: a wheel or a shared directory must run on any machine of this kind. CMake asks compilers and archivers
# by one path each.
for tool in c++ ar ranlib; do
  baseline=
  if [ "$tool" = c++ ]; then baseline=" -mcpu=baseline"; fi
  printf '#!/bin/sh\nexec "%s" %s%s "$@"\n' "$zig" "$tool" "$baseline" >"$bin/zig-$tool"
  chmod +x "$bin/zig-$tool"
done
export CXX="$bin/zig-c++"
export CMAKE_ARGS="${CMAKE_ARGS:-} -DCMAKE_AR=$bin/zig-ar -DCMAKE_RANLIB=$bin/zig-ranlib"
exec "$@"
