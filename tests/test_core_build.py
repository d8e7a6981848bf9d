"""Files of the core that are compiled together, as one file each, do not get into each other's way."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GROUPS = re.findall(r'^  "(.*?)"\)?$', (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
SOURCES = sorted(path.relative_to(ROOT / "cpp").as_posix() for path in (ROOT / "cpp").glob("*/*.cpp"))


def members(group):
    return [source for source in SOURCES if re.fullmatch(rf"({group})\.cpp", source)]


def own_names(text):
    """The names that a file declares in its anonymous namespace; lines that begin in the first column declare one each."""
    found = []
    for body in re.findall(r"^namespace \{$(.*?)^\}  // namespace$", text, re.DOTALL | re.MULTILINE):
        for line in re.findall(r"^[A-Za-z\[].*$", body, re.MULTILINE):
            kind = re.match(r"(?:struct|class|enum class) (\w+)", line)
            other = re.match(r".*?\b(\w+)\s*[({=;\[]", line)
            if (kind or other) and not line.startswith(("template", "using std::")):
                found.append((kind or other)[1])
    return set(found)


def test_names_are_found():
    text = "namespace {\n\nconstexpr int few = 3;\ntemplate <class T>\nstruct Part {\n  int x;\n};\ndouble half(double x) {\n"
    text += "  return x / 2;\n}\n\n}  // namespace\nint other;\n"
    assert own_names(text) == {"few", "Part", "half"}


@pytest.mark.parametrize("group", GROUPS)
def test_no_name_is_declared_twice_in_a_group(group):
    names = [name for source in members(group) for name in own_names((ROOT / "cpp" / source).read_text())]
    assert sorted(names) == sorted(set(names))


def test_every_group_has_files_and_no_file_two_groups():
    grouped = [source for group in GROUPS for source in members(group)]
    assert len(GROUPS) >= 10
    assert all(len(members(group)) > 1 for group in GROUPS)
    assert len(grouped) == len(set(grouped))
