"""The tables of the docs are those of the stored results."""

import json

import pytest
from evidence.fill_tables import ROOT, TABLES, filled


@pytest.mark.parametrize(
    ("page", "name", "path", "table"), TABLES, ids=lambda part: part if type(part) is str else ""
)
def test_the_tables_of_the_docs_are_the_evidence(page, name, path, table):
    text = (ROOT / "docs" / page).read_text("utf-8")
    assert filled(page, name, table(json.loads(path.read_text("utf-8"))), text) == text
