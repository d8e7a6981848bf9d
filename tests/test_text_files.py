"""Cells of files: names of arms as they are written, decimal commas, missing values beside numbers."""

import gzip
import json

import pytest

from linkarms.arms import make_source
from linkarms.errors import InvalidInput

pytest.importorskip("pyarrow")


def records(path):
    source = make_source(path, arm="arm", value="v", drop_missing=True)
    return {name: x.ravel().tolist() for name, x in zip(source.names, source.records, strict=True)}


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["1.10", "1.1", "3"], ("1.10", "1.1", "3")),
        (["001", "01", "1"], ("001", "01", "1")),
        (["true", "True"], ("true", "True")),
        (["10:00", "2020-01-01"], ("10:00", "2020-01-01")),
        (["2020-01-01", "2020-01-01 00:00"], ("2020-01-01", "2020-01-01 00:00")),
        (["1e3", "1000"], ("1e3", "1000")),
        (["0.0", "-0.0"], ("0.0", "-0.0")),
        (["9" * 20, "1"], ("9" * 20, "1")),
        (["NA", "x"], ("NA", "x")),
        (["1", "1.5"], ("1", "1.5")),
        (["3", "1", "-2"], (3, 1, -2)),
        (["0.5", "1.5"], (0.5, 1.5)),
        ([" 1", "1 ", "2"], (1, 2)),
    ],
)
def test_names_of_arms_stay_as_they_are_written(tmp_path, texts, names):
    """They become numbers only if that changes none of them."""
    rows = [f"{i},{text},0.5" for i, text in enumerate(texts)]
    written = "\n".join(["row,arm,v", *rows])
    files = {"a.csv": written, "b.tsv": written.replace(",", "\t"), "c.csv": written.replace(",", ";")}
    for name, text in files.items():
        zipped = tmp_path / f"{name}.gz"
        (tmp_path / name).write_text(text)
        zipped.write_bytes(gzip.compress(text.encode()))
        for path in (tmp_path / name, zipped):
            found = make_source(path, arm="arm", value="v").names
            assert [(type(x), x) for x in found] == [(type(x), x) for x in names]
    lines = tmp_path / "d.jsonl"
    lines.write_text("".join(json.dumps({"arm": text, "v": 0.5}) + "\n" for text in texts))
    assert make_source(lines, arm="arm", value="v").names == tuple(texts)  # text by its quotes


def test_arms_whose_number_is_missing(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("arm,v\n1,0.5\nNA,1.5\n,2.5\n2,3.5\n")
    with pytest.raises(InvalidInput, match="'arm': 2 of 4 arm names are missing, the first in row 1"):
        make_source(path, arm="arm", value="v")
    assert make_source(path, arm="arm", value="v", drop_missing=True).names == (1, 2)


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["0,0", "NA", "1,5"], [0.0, 1.5]),
        (["0,0", "1,5e-3", "-,5", "2"], [0.0, 0.0015, -0.5, 2.0]),
        (["", "n/a"] * 60 + ["1,5"], [1.5]),
        (["1"] * 150 + ["1,5"], [1.0] * 150 + [1.5]),
        (["0,0", "NA", "-", "1,5"], "row 2 (counted from 0) has '-'"),
        (["1,5", "x"], "row 1 (counted from 0) has 'x'"),
        (["1,5", "1.234,5", "2"], "row 1 (counted from 0) has '1.234,5'"),
    ],
)
def test_decimal_commas_beside_missing_cells(tmp_path, cells, found):
    path = tmp_path / "commas.csv"
    path.write_text("arm;v;;\n" + "".join(f"1,5;{cell};;\n" for cell in cells))
    if isinstance(found, str):
        with pytest.raises(InvalidInput) as caught:
            make_source(path, arm="arm", value="v", drop_missing=True)
        assert f"column 'v' is not numeric: {found}" in str(caught.value)
    else:
        assert records(path) == {"1,5": found}


def test_workbooks_with_mixed_cells(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")

    def names_and_counts(*rows):
        book = openpyxl.Workbook()
        for row in (("arm", "v"), *rows):
            book.worksheets[0].append(row)
        book.save(tmp_path / "book.xlsx")
        source = make_source(tmp_path / "book.xlsx", arm="arm", value="v", drop_missing=True)
        return source.names, source.n_records

    for mark in ("n/a", "#N/A", None):
        assert names_and_counts((1, 1.5), (2, mark), (2, 3)) == ((1, 2), (1, 1))
    with pytest.raises(InvalidInput, match=r"column 'v' is not numeric: row 1 \(counted from 0\) has 'far'"):
        names_and_counts(("a", 1.5), ("b", "far"), ("b", "n/a"))
    assert names_and_counts((1, 1.5), ("b", 2), (True, 4)) == (("1", "b", "True"), (1, 1, 1))
