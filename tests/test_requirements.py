"""`tools/install.sh` installs what `tools/requirements.py` lists, and the package without its requirements."""

import importlib.util
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

SPEC = importlib.util.spec_from_file_location(
    "requirements", Path(__file__).parent.parent / "tools" / "requirements.py"
)
TOOL = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(TOOL)


def by_metadata(extras):
    """What pip would install: the installed package's requirements, followed through the extras of its own."""
    known = [Requirement(text) for text in metadata.requires("linkarms")]
    found, wanted, seen = set(), {"", *extras}, set()
    while wanted - seen:
        extra = (wanted - seen).pop()
        seen.add(extra)
        for requirement in known:
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                if requirement.name == "linkarms":
                    wanted |= requirement.extras
                else:
                    requirement.marker = None
                    found.add(str(requirement))
    return found


@pytest.mark.parametrize("extras", [(), ("cli", "plots"), ("test",), ("test", "lint"), ("test", "docs")])
def test_the_list_is_what_the_metadata_of_the_package_says(extras):
    assert {str(Requirement(line)) for line in TOOL.requirements(extras)} == by_metadata(extras)
