"""Print what the package needs with some of its extras, one requirement per line.

python tools/requirements.py cli plots
"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def requirements(extras):
    """Return the requirements of the package and of these extras, and of the extras that they name."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    own = re.compile(re.escape(project["name"]) + r"\[([\w,-]+)\]")
    found, wanted, seen = list(project["dependencies"]), list(extras), set()
    while wanted:
        extra = wanted.pop()
        if extra in seen:
            continue
        seen.add(extra)
        for requirement in project["optional-dependencies"][extra]:
            others = own.fullmatch(requirement)
            if others:
                wanted += others[1].split(",")
            else:
                found.append(requirement)
    return sorted(set(found))


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
