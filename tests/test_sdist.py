"""The source distribution: everything that the package, its tests and its documentation need, and nothing that was built."""

import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="an unpacked sdist: there is no list of files to compare with"
)
def test_the_sdist_holds_the_files_of_the_repository(tmp_path):
    wanted = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(wanted, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    kept = {name for name in listed if not name.startswith(".ci/") and (ROOT / name).is_file()}
    build = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.glob("linkarms-*.tar.gz")
    with tarfile.open(archive) as packed:
        inside = {name.partition("/")[2] for name in packed.getnames()}
        described = (
            packed.extractfile(next(m for m in packed if m.name.endswith("/PKG-INFO"))).read().decode()
        )
    assert kept - inside == set()
    assert inside - kept == {"PKG-INFO"}
    the_links_work_on_pypi(described)


def the_links_work_on_pypi(described):
    """PyPI shows the README apart from the repository: each link is absolute and names a file of the repository at the tag."""
    version = re.search(r"^Version: (\S+)$", described, re.MULTILINE)[1]
    source = re.search(r"^Project-URL: Source, (\S+)$", described, re.MULTILINE)[1]
    readme = (ROOT / "README.md").read_text("utf-8")
    found = re.findall(r"(!?)\[[^\]]*\]\(([^)]*)\)", described.partition("\n\n")[2])
    assert len(found) == len(re.findall(r"\]\(", readme)) > 20
    for picture, target in found:
        name = target.removeprefix(f"{source}/{'raw' if picture else 'blob'}/v{version}/")
        assert name != target
        assert (ROOT / name.partition("#")[0]).is_file()
