"""The door to numba: caches, announcements, stale formulas, read-only places, and a light import."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import linkarms

PACKAGE = Path(linkarms.__file__).parent
ANNOUNCED = "linkarms: compiling"
SMALL = """
import json
import linkarms as la
from linkarms.linkage import single_linkage
labels, ambiguous = single_linkage([0.0, 5.0, 0.5, 5.7], 2)
print(json.dumps([la.__file__, labels.tolist(), la.families.Gaussian(2.0).kl(0.0, 3.0)]))
"""
DECISION = """
import linkarms as la
c = la.BanditClusterer(2, 3, stopping=la.stopping.Paper(theta=(-9, 9)))
for value in (0.0, 0.5, 4.0):
    c.tell(c.ask()[0], value)
print(c.ask()[0], c.result().labels.tolist())
"""


def run(program, cache, **environment):
    """Run a program in a new interpreter; what it printed, and what it said on stderr."""
    keep = {k: v for k, v in os.environ.items() if k not in ("LINKARMS_QUIET", "NUMBA_DISABLE_JIT")}
    env = keep | {"NUMBA_CACHE_DIR": str(cache)} | {k: str(v) for k, v in environment.items()}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=env, timeout=500
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


@pytest.fixture
def copied(tmp_path):
    """A copy of the package that may be edited, for use with PYTHONPATH."""
    shutil.copytree(PACKAGE, tmp_path / "copy" / "linkarms", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "copy"


def test_second_process_compiles_nothing(tmp_path):
    first, said = run(DECISION, tmp_path)
    assert said.count(ANNOUNCED) == 1
    assert "once" in said
    second, said = run(DECISION, tmp_path)
    assert said == ""
    assert first == second
    assert second.endswith("[0, 0, 1]")


def test_quiet_when_asked(tmp_path):
    answer, said = run(SMALL, tmp_path, LINKARMS_QUIET="1")
    assert said == ""
    assert json.loads(answer)[1:] == [[0, 1, 0, 1], 2.25]


def edit(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} is no longer once in {path.name}: change this test"
    path.write_text(text.replace(old, new))


def test_edit_of_a_called_kernel_is_seen(copied, tmp_path):
    # arm_kl is what is called and cached; scalar_kl, in another file, is what is edited
    before, said = run(SMALL, tmp_path / "cache", PYTHONPATH=copied)
    assert Path(json.loads(before)[0]).is_relative_to(copied)
    assert json.loads(before)[2] == 2.25
    assert ANNOUNCED in said
    again, said = run(SMALL, tmp_path / "cache", PYTHONPATH=copied)
    assert (again, said) == (before, "")
    formula = "return (lam - theta) * (lam - theta) / (2.0 * par)"
    edit(copied / "linkarms" / "families" / "_scalar.py", formula, formula + " * 3.0")
    after, said = run(SMALL, tmp_path / "cache", PYTHONPATH=copied)
    assert json.loads(after)[2] == 3 * 2.25
    assert ANNOUNCED in said


def test_edit_of_a_constant_is_seen(copied, tmp_path):
    # the codes are numbers inside the compiled kernels: with old kernels a covariance would be taken for categories
    program = "import linkarms as la\nprint(la.families.Gaussian([1.0, 4.0]).kl([0.25, 0.75], [0.75, 0.25]))"
    first, _ = run(program, tmp_path / "cache", PYTHONPATH=copied)
    assert float(first) == pytest.approx(0.25 / 2 + 0.25 / 8)
    edit(copied / "linkarms" / "families" / "_model.py", "CATEGORICAL = -1, -2", "CATEGORICAL = -2, -1")
    second, _ = run(program, tmp_path / "cache", PYTHONPATH=copied)
    assert first == second


def kernel_files():
    """The files that kernels are made of: those that import the door, and what these import from the package."""
    files = {p for p in PACKAGE.rglob("*.py") if "_jit import" in p.read_text() and p.name != "_jit.py"}
    imported = set()
    for path in files:
        for line in path.read_text().splitlines():
            words = line.split()
            if len(words) > 2 and words[0] == "from" and words[1].startswith("linkarms."):
                base = PACKAGE.joinpath(*words[1].split(".")[1:])
                names = [n.strip("(),") for n in words[3:]]
                found = [base.with_suffix(".py"), *(base / f"{n}.py" for n in names)]
                imported |= {p for p in found if p.is_file()}
    # not part of any formula: checks of arguments, errors, and the public faces of kernels
    light = {"_validate.py", "errors.py", "_base.py", "_resolve.py", "_rules.py", "_product.py"}
    return sorted(str(p.relative_to(PACKAGE)) for p in files | imported if p.name not in light)


def test_digest_changes_with_every_kernel_file(copied):
    spec = importlib.util.spec_from_file_location("copied_jit", copied / "linkarms" / "_jit.py")
    door = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(door)
    files = kernel_files()
    assert {"linkage.py", "state.py", "families/_model.py", "sampling/_simplex.py"} <= set(files)
    seen, missed = {door.kernel_digest()}, []
    for name in files:
        with open(copied / "linkarms" / name, "a") as file:
            file.write("\n# edited\n")
        door.kernel_digest.cache_clear()
        if door.kernel_digest() in seen:
            missed.append(name)
        seen.add(door.kernel_digest())
    assert missed == []


def test_no_writable_place(copied, tmp_path):
    # __pycache__ and every other place for a cache lie below a regular file: nobody, not even root, can write there
    wall = tmp_path / "wall"
    wall.write_text("")
    for folder in [copied / "linkarms", *(p for p in (copied / "linkarms").rglob("*") if p.is_dir())]:
        (folder / "__pycache__").write_text("")
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"), wall / "below")
    for _ in range(2):
        answer, said = run(SMALL, wall / "below", PYTHONPATH=copied, **nowhere)
        assert json.loads(answer)[1:] == [[0, 1, 0, 1], 2.25]
        assert said.count(ANNOUNCED) == 1
        assert "no writable cache" in said


def test_import_is_light(tmp_path):
    heavy = [
        "numba",
        "scipy",
        "matplotlib",
        "typer",
        "rich",
        "fastapi",
        "pandas",
        "polars",
        "narwhals",
        "pyarrow",
    ]
    program = f"import sys, linkarms\nprint([m for m in {heavy} if m in sys.modules])"
    assert run(program, tmp_path) == ("[]", "")
    program = "import linkarms\nprint(all(getattr(linkarms, n) is not None for n in linkarms.__all__))"
    assert run(program, tmp_path)[0] == "True"
    assert run("import linkarms\nprint(hasattr(linkarms, 'nonsense'))", tmp_path)[0] == "False"
