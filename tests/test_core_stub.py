"""The stub of the native core names what the core has, and nothing else."""

import ast
from pathlib import Path

import linkarms
from linkarms import _core

STUB = ast.parse((Path(linkarms.__file__).parent / "_core.pyi").read_text())


def _names(nodes):
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node


def test_the_stub_and_the_core_have_the_same_names():
    aliases = {
        n.target.id
        for n in STUB.body
        if isinstance(n, ast.AnnAssign) and getattr(n.annotation, "id", None) == "TypeAlias"
    }
    stub = dict(_names(STUB.body))
    public = {name for name in dir(_core) if not name.startswith("_")}
    assert set(stub) - aliases - public == set()
    assert public - set(stub) == set()
    for name, node in stub.items():
        if isinstance(node, ast.ClassDef):
            members = {n for n, _ in _names(node.body) if not n.startswith("_")}
            found = {n for n in dir(getattr(_core, name)) if not n.startswith("_")}
            assert (name, members ^ found) == (name, set())
