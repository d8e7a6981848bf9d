"""Break one line of the search at a time, and see whether a test notices.

python tools/mutants.py VENV [NUMBER ...]

Each mutant is built in a copy of the sources and tried with the tests of the search; the ones that no test notices are listed at the end.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPY = ROOT / "build" / "mutants"
TESTS = [
    "tests/test_core_linkage.py",
    "tests/test_core_psi.py",
    "tests/test_core_search.py",
    "tests/test_incremental.py",
]

#: File, what is there, what is put in its place.
MUTANTS = [
    ("psi/shortlist.cpp", "if (signed_square(gap) > twice * total)", "if (signed_square(gap) > 0.5 * twice * total)"),
    ("psi/shortlist.cpp", "4.0 * spreads[u] + spreads[v];", "1.0 * spreads[u] + spreads[v];"),
    ("psi/shortlist.cpp", "for (Index b = a + 1; b < ground.size(); ++b) {", "for (Index b = a + 2; b < ground.size(); ++b) {"),
    ("psi/shortlist.cpp", "if (v >= 0) measure(ground, spreads, v);", ""),
    ("psi/attachments.cpp", "2.0 * (4.0 * spreads[u] +", "2.0 * (1.0 * spreads[u] +"),
    ("psi/attachments.cpp", "labels[m] && mate_[a] >= 0) lower", "labels[m] && mate_[a] >= 0 && a < m) lower"),
    ("psi/attachments.cpp", "floor = std::min(floor, value);", ""),
    ("psi/attachments.cpp", "if (slots_[u][slot].arm == m) set_slot(ground, spreads, u, slot, m);", ""),
    ("psi/cluster_trees.cpp", "if (parent_[x] == m) length_[x] = row[x];", ""),
    ("psi/cluster_trees.cpp", "&& is_below(z, x) && !is_below(w, parent_[x]);", "&& is_below(z, x);"),
    ("psi/cluster_trees.cpp", "if (edge.inner == m || edge.outer == m) edge.length = -1.0;", "if (edge.inner == m) edge.length = -1.0;"),
    ("psi/near_classes.cpp", "bounds[a] = std::min(bounds[a], labels[a] != labels[m] ? row[a] : inf);", ""),
    ("psi/near_classes.cpp", "other = std::min(other, q);", ""),
    ("psi/near_classes.cpp", "top_[class_[m]] = std::max(top_[class_[m]], spreads[m]);", "top_[class_[m]] = spreads[m];"),
    ("psi/front.cpp", "edges_[i].length + room_to_move", "edges_[i].length + 0.9 * room_to_move"),
    ("psi/edge_replacer.cpp", "spreads[u] + spreads[fails], p, r, twice)", "spreads[u], p, r, twice)"),
    ("psi/bottleneck.hpp", "total += 2.0 * spread[x];", "total += 0.0;"),
    ("psi/bottleneck.hpp", "* (1.0 - 1e-12);", "* 1.05;"),
    ("psi/bottleneck.hpp", "if (x < 0 || least.exceeds(edge)) {", "if (x < 0) {"),
    ("psi/search_of.hpp", "if (trees_.has_large_cluster()) scan_alternatives(costs, best);", ""),
    ("psi/search_of.hpp", "attachments_.regroup(ground, spreads_, change);", ""),
    ("psi/search_of.hpp", "if (weights[m] <= 0.0) best.value = 0.0;", ""),
    ("psi/spreads.hpp", "(value <= level_ && level_ <= ahead * ahead * value)", "level_ >= 0.0"),
    ("psi/spreads.hpp", "one = moved && !raise && !raised_;", "one = moved && !raise;"),
    ("psi/bounds.hpp", "inline constexpr double ties = 1.0 + 1e-9;", "inline constexpr double ties = 1.0 - 1e-9;"),
    ("linkage/partition.cpp", "near_[j] = std::min(near_[j], row[j]);", ""),
    ("linkage/partition.cpp", "near_[z] = std::min(near_[z], dist(y, z));", ""),
    ("linkage/partition.cpp", "*task_.distance : longest) * (1.0 + 2.0 * tie)", "*task_.distance : longest) * (1.0 - 2.0 * tie)"),
    ("linkage/respan.cpp", "exit_[p] = std::min(exit_[p], std::max(exit_[m], length[m]));", "exit_[p] = std::max(exit_[m], length[m]);"),
    ("linkage/respan.cpp", "if (d < best[p] || (d == best[p] && first(e, longest[p]))) {", "if (d < best[p]) {"),
    ("linkage/spanning_tree.cpp", "precedes(j, parent[j], i, parent[i])", "precedes(i, parent[i], j, parent[j])"),
    ("linkage/spanning_tree.cpp", "cut.removed <= cut.kept * (1.0 + tie)", "cut.removed < cut.kept"),
]  # fmt: skip


def copy_sources() -> None:
    """The sources as they are, without what was built."""
    shutil.rmtree(COPY / "source", ignore_errors=True)
    for name in ("cpp", "src", "CMakeLists.txt"):
        here, there = ROOT / name, COPY / "source" / name
        there.parent.mkdir(parents=True, exist_ok=True)
        if here.is_dir():
            shutil.copytree(here, there, ignore=shutil.ignore_patterns("_core*.so", "__pycache__"))
        else:
            shutil.copy2(here, there)


def build(venv: Path) -> bool:
    """Whether it compiles; the module is put beside the Python sources."""
    path = {**os.environ, "PATH": f"{venv / 'bin'}:{os.environ['PATH']}"}
    if not (COPY / "build" / "build.ninja").exists():
        options = ["-G", "Ninja", "-DLINKARMS_IN_PLACE=ON", f"-DPython_EXECUTABLE={venv / 'bin' / 'python'}"]
        flags = ["-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"]
        configure = ["cmake", "-S", COPY / "source", "-B", COPY / "build", *options, *flags]
        subprocess.run(configure, env=path, check=True, stdout=subprocess.DEVNULL)
    return (
        subprocess.run(["ninja", "-C", COPY / "build"], env=path, stdout=subprocess.DEVNULL).returncode == 0
    )


def survives(venv: Path) -> bool:
    """Whether all tests pass. The first that fails is named."""
    path = {**os.environ, "PYTHONPATH": str(COPY / "source" / "src")}
    command = [
        venv / "bin" / "python",
        "-m",
        "pytest",
        "-q",
        "-x",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        *TESTS,
    ]
    try:
        done = subprocess.run(command, cwd=ROOT, env=path, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        print("   noticed: it does not end")
        return False
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    print(
        "  ",
        failed[0][:150] if failed else done.stdout.splitlines()[-1] if done.stdout else done.stderr[-200:],
    )
    return done.returncode == 0


def main() -> int:
    """Try all mutants, or those whose numbers are given; 0 stands for the sources as they are."""
    venv = Path(sys.argv[1]).absolute()
    numbers = [int(x) for x in sys.argv[2:]] or range(len(MUTANTS) + 1)
    copy_sources()
    left = []
    for number in numbers:
        begin = time.monotonic()
        file, old, new = MUTANTS[number - 1] if number else ("run/rules.hpp", "", "")
        source = COPY / "source" / "cpp" / file
        text = source.read_text()
        assert not old or text.count(old) == 1, (number, text.count(old))
        source.write_text(text.replace(old, new) if old else text)
        print(f"{number} {file}: {old!r} -> {new!r}", flush=True)
        if not build(venv):
            print("   does not compile")
        elif survives(venv) and number:
            left.append(number)
        source.write_text(text)
        print(f"   {time.monotonic() - begin:.0f} s", flush=True)
    print("not noticed:", left or "none")
    return 1 if left else 0


if __name__ == "__main__":
    raise SystemExit(main())
