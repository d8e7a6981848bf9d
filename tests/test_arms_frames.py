from __future__ import annotations

import datetime
import decimal
import gzip
import importlib.util

import narwhals
import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

from linkarms import errors
from linkarms.arms import from_frame, make_frame, make_source, read_table

MAKERS = {
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "lazy": polars.LazyFrame,
    "pyarrow": pyarrow.table,
}


@pytest.fixture(params=list(MAKERS))
def make(request):
    return MAKERS[request.param]


def records(arms):
    """All records of a source drawn without replacement, sorted, by arm."""
    return {
        name: sorted(tuple(arms.pull(i).tolist()) for _ in range(arms.n_records[i]))
        for i, name in enumerate(arms.names)
    }


def test_rows_go_to_their_arms(make):
    frame = make({"zone": ["b", "a", "b", "c", "a", "b"], "x": [1, 2, 3, 4, 5, 6], "y": [0.5] * 6})
    arms = from_frame(frame, "zone", "x", replace=False)
    assert arms.names == ("b", "a", "c")
    assert records(arms) == {"b": [(1,), (3,), (6,)], "a": [(2,), (5,)], "c": [(4,)]}


def test_several_columns_are_one_sample(make):
    frame = make({"y": [10.0, 20.0], "zone": [7, 5], "x": [1.0, 2.0]})
    arms = from_frame(frame, arm="zone", value=["x", "y"], replace=False)
    assert arms.n_features == 2
    assert records(arms) == {7: [(1.0, 10.0)], 5: [(2.0, 20.0)]}
    assert [type(name) for name in arms.names] == [int, int]


def test_the_same_seed_gives_the_same_samples_whatever_the_library():
    data = {"zone": ["a", "b"] * 30, "x": np.arange(60.0)}
    drawn = [
        [make_source(maker(data), arm="zone", value="x", seed=4).pull(1).item() for _ in range(5)]
        for maker in MAKERS.values()
    ]
    assert drawn == [drawn[0]] * len(MAKERS)


def test_missing_columns_are_named(make):
    frame = make({"zone": ["a"], "gap": [1.0]})
    with pytest.raises(errors.InvalidInput, match="no column 'place'; the columns are 'zone', 'gap'"):
        from_frame(frame, "place", "gap")
    with pytest.raises(errors.InvalidInput, match="no column 'x'; the columns are 'zone', 'gap'"):
        from_frame(frame, "zone", ["gap", "x"])
    with pytest.raises(errors.InvalidInput, match="'gap' is named twice"):
        from_frame(frame, "zone", ["gap", "gap"])
    with pytest.raises(errors.InvalidInput, match="no value column"):
        from_frame(frame, "zone", [])
    with pytest.raises(errors.InvalidInput, match=r"needs arm= .* the columns are 'zone', 'gap'"):
        make_source(frame)


def test_missing_values_are_counted(make):
    frame = make({"zone": ["a", "b", "c", "b"], "x": [1.0] * 4, "gap": [1.0, 2.0, None, float("nan")]})
    with pytest.raises(
        errors.InvalidInput, match=r"'gap': 2 of 4 values are missing.* row 2 \(counted from 0, arm 'c'\)"
    ):
        from_frame(frame, "zone", ["x", "gap"])


def test_missing_integers_are_counted(make):
    frame = make({"zone": ["a", "b", "c"], "gap": [1, None, 3]})
    with pytest.raises(errors.InvalidInput, match=r"'gap': 1 of 3 values .* row 1 "):
        from_frame(frame, "zone", "gap")


def test_infinite_values_are_refused(make):
    frame = make({"zone": ["a", "b"], "gap": [1.0, float("inf")]})
    with pytest.raises(errors.InvalidInput, match=r"'gap': 1 of 2 values .*not finite.* row 1 "):
        from_frame(frame, "zone", "gap")


def test_missing_arm_names_are_counted(make):
    frame = make({"zone": ["a", None, "b", None], "gap": [1.0] * 4})
    with pytest.raises(
        errors.InvalidInput, match="'zone': 2 of 4 arm names are missing, the first in row 1 "
    ):
        from_frame(frame, "zone", "gap")
    numbers = make({"zone": [1.5, float("nan"), 2.5], "gap": [1.0] * 3})
    with pytest.raises(
        errors.InvalidInput, match="'zone': 1 of 3 arm names are missing, the first in row 1 "
    ):
        from_frame(numbers, "zone", "gap")


def test_values_have_to_be_numbers(make):
    texts = make({"zone": ["a"], "gap": ["1.0"]})
    with pytest.raises(errors.InvalidInput, match="column 'gap' is not numeric"):
        from_frame(texts, "zone", "gap")
    words = make({"zone": ["a", "b", "a"], "gap": [None, "1.0", "far"]})
    with pytest.raises(
        errors.InvalidInput, match=r"'gap' is not numeric: row 2 \(counted from 0\) has 'far'; give"
    ):
        from_frame(words, "zone", "gap")
    days = make({"zone": ["a"], "gap": [datetime.date(2020, 1, 1)]})
    with pytest.raises(errors.InvalidInput, match="column 'gap' is not numeric"):
        from_frame(days, "zone", "gap")


def test_no_rows(make):
    frame = make({"zone": ["a"], "gap": [1.0]})
    with pytest.raises(errors.InvalidInput, match="no rows"):
        from_frame(frame.slice(0, 0) if hasattr(frame, "slice") else frame.iloc[:0], "zone", "gap")


def test_booleans_are_numbers(make):
    flags = make({"a": ["x", "x"], "v": [True, False]})
    assert records(from_frame(flags, "a", "v", replace=False)) == {"x": [(0.0,), (1.0,)]}


@pytest.mark.skipif(
    not hasattr(narwhals, "Decimal"), reason="this version of narwhals does not know decimals"
)
@pytest.mark.parametrize("maker", [polars.DataFrame, pyarrow.table])
def test_decimals_are_numbers(maker):
    money = maker({"a": ["x", "x"], "v": [decimal.Decimal("1.25"), decimal.Decimal("2.50")]})
    assert records(from_frame(money, "a", "v", replace=False)) == {"x": [(1.25,), (2.5,)]}


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "int8", "float32"])
def test_pandas_types(dtype):
    frame = pandas.DataFrame({"a": pandas.Series(["x", "y", "x"], dtype="category"), "v": [1, 2, 3]})
    frame["v"] = frame["v"].astype(dtype)
    assert records(from_frame(frame, "a", "v", replace=False)) == {"x": [(1.0,), (3.0,)], "y": [(2.0,)]}
    if dtype[0] in "IF":
        frame.loc[1, "v"] = pandas.NA
        with pytest.raises(errors.InvalidInput, match=r"'v': 1 of 3 values are missing.* row 1 "):
            from_frame(frame, "a", "v")


def test_an_index_does_not_matter():
    frame = pandas.DataFrame({"a": ["x", "y", "x"], "v": [1, 2, 3]}, index=[5, 5, 0])
    assert records(from_frame(frame, "a", "v", replace=False)) == {"x": [(1.0,), (3.0,)], "y": [(2.0,)]}


def test_odd_arm_columns():
    mixed = pandas.DataFrame({"a": pandas.Series([1, "x", np.int64(1)], dtype=object), "v": [1, 2, 3]})
    assert from_frame(mixed, "a", "v").names == (1, "x")
    lists = polars.DataFrame({"a": [[1], [2]], "v": [1.0, 2.0]})
    with pytest.raises(errors.InvalidInput, match="column 'a' cannot name arms"):
        from_frame(lists, "a", "v")
    days = polars.DataFrame({"a": [datetime.date(2020, 1, 1)], "v": [1.0]})
    assert from_frame(days, "a", "v").names == (datetime.date(2020, 1, 1),)
    marks = pandas.DataFrame({"a": pandas.Series(["x", pandas.NA], dtype="string"), "v": [1, 2]})
    with pytest.raises(errors.InvalidInput, match="1 of 2 arm names are missing, the first in row 1"):
        from_frame(marks, "a", "v")


def test_frames_that_cannot_be_read():
    twice = pandas.DataFrame([["x", 1.0, 2.0]], columns=["a", "v", "v"])
    with pytest.raises(errors.InvalidInput, match="cannot be read") as caught:
        from_frame(twice, "a", "v")
    assert "\n" not in str(caught.value)
    with pytest.raises(errors.InvalidInput, match="cannot be read"):
        from_frame([1, 2], "a", "v")
    with pytest.raises(errors.InvalidInput, match="arms is a Series"):
        make_source(pandas.Series([1.0]))


# -- files ---------------------------------------------------------------------------------------------------

TEXT = "zone,gap,note\nb,1,\na,2.5,hello\nb,,x\n"


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".tsv.gz", ".CSV", ".parquet"])
def test_read_table(tmp_path, suffix):
    path = tmp_path / f"trips{suffix}"
    text = TEXT.replace(",", "\t") if "tsv" in suffix else TEXT
    if suffix == ".parquet":
        cells = {"zone": ["b", "a", "b"], "gap": [1.0, 2.5, None], "note": [None, "hello", "x"]}
        pyarrow.parquet.write_table(pyarrow.table(cells), path)
    elif suffix.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    table = read_table(path)
    assert table.to_pydict() == {
        "zone": ["b", "a", "b"],
        "gap": [1.0, 2.5, None],
        "note": [None, "hello", "x"],
    }
    assert from_frame(read_table(str(path)).slice(0, 2), "zone", "gap").names == ("b", "a")


def test_an_arm_may_be_called_na_and_may_not_be_empty(tmp_path):
    path = tmp_path / "countries.csv"
    path.write_text("country,v\nNA,1\nZA,2\n")
    assert from_frame(read_table(path), "country", "v").names == ("NA", "ZA")
    path.write_text("country,v\nNA,1\n,2\nZA,3\n")
    with pytest.raises(errors.InvalidInput, match="1 of 3 arm names are missing, the first in row 1"):
        from_frame(read_table(path), "country", "v")


def test_files_from_spreadsheets(tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_bytes(b"\xef\xbb\xbfzone,gap\r\na,1\r\nb,2\r\n")
    assert from_frame(read_table(path), "zone", "gap").names == ("a", "b")
    path.write_text("zone,gap,gap\na,1,2\n")
    with pytest.raises(errors.InvalidInput, match=r"2 columns called 'gap'|cannot be read"):
        from_frame(read_table(path), "zone", "gap")


def test_fractions_may_come_late(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("zone,gap\n" + "a,12345678\n" * 200_000 + "b,0.5\n")
    assert from_frame(read_table(path), "zone", "gap").n_records == (200_000, 1)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "there is no such file"),
        ("none.parquet", None, "there is no such file"),
        ("data.xls", b"", r"it has to end in \.csv, \.csv\.gz, \.tsv, \.tsv\.gz, .*\.parquet, \.xlsx"),
        ("data", b"a,b\n1,2\n", "it has to end in"),
        ("empty.csv", b"", "the file is empty; give a table with a header and one row per sample"),
        (
            "ragged.csv",
            b"a,b\n1,2\n1,2,3\n",
            r"cannot be read: .*Row #3: Expected 2 columns, got 3: 1,2,3; give a header and, in every row, as many cells",
        ),
        ("latin.csv", b"a,b\nM\xfcnchen,2\n", "cannot be read: .*column 'a' is not UTF-8"),
        (
            "header.csv",
            b"a,Gr\xf6\xdfe\nx,2\n",
            "cannot be read: the first line is not UTF-8 text; save the file as",
        ),
        (
            "wide.csv",
            "a,b\n1,2\n".encode("utf-16"),
            "cannot be read: the file is not UTF-8 text, but perhaps UTF-16; save",
        ),
        (
            "wide.csv.gz",
            gzip.compress("a,b\n1,2\n".encode("utf-16-le"), mtime=0),
            "cannot be read: .* perhaps UTF-16; save",
        ),
        (
            "latin.jsonl",
            b'{"a":1,"b":"x"}\n{"a":2,"b":"\xfc"}\n',
            "cannot be read: the column 'b' is not UTF-8 text; save",
        ),
        ("header.jsonl", b'{"\xfc":1}\n', "cannot be read: the first line is not UTF-8 text; save"),
        ("broken.csv.gz", b"not gzip at all", "cannot be read"),
        (
            "broken.parquet",
            b"not parquet at all",
            "cannot be read.*; write the file again, or give a CSV file",
        ),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(errors.InvalidInput, match=message) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)
    assert str(caught.value).isprintable()


def test_names_of_arms_have_to_be_text_that_can_be_read(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes(b"a,b\nM\xfcnchen,2\n")
    with pytest.raises(
        errors.InvalidInput, match="cannot be read: the column 'a' is not UTF-8 text; save the"
    ):
        make_source(path, arm="a", value="b")


def test_a_directory_is_not_a_file(tmp_path):
    (tmp_path / "dir.csv").mkdir()
    with pytest.raises(errors.InvalidInput, match="not a file"):
        read_table(tmp_path / "dir.csv")


# -- frames out ----------------------------------------------------------------------------------------------


def hide(monkeypatch, *names):
    """Make some packages look as if they were not installed."""
    real = importlib.util.find_spec

    def find(name, package=None):
        return None if name in names else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    monkeypatch.setattr("linkarms.arms._frames.find_spec", find)


COLUMNS = {"arm": ["a", "b"], "cluster": [0, 1], "pulls": [3, 4], "parameter_0": [0.5, None]}


def test_make_frame_takes_what_is_installed(monkeypatch):
    frame = make_frame(COLUMNS)
    assert isinstance(frame, pandas.DataFrame)
    assert frame["arm"].tolist() == ["a", "b"]
    assert frame["parameter_0"].isna().tolist() == [False, True]
    hide(monkeypatch, "pandas")
    frame = make_frame(COLUMNS)
    assert isinstance(frame, polars.DataFrame)
    assert frame.to_dict(as_series=False) == COLUMNS
    hide(monkeypatch, "pandas", "polars")
    frame = make_frame(COLUMNS)
    assert isinstance(frame, pyarrow.Table)
    assert frame.to_pydict() == COLUMNS
    hide(monkeypatch, "pandas", "polars", "pyarrow")
    with pytest.raises(errors.MissingDependency, match=r"pip install 'linkarms\[data\]'"):
        make_frame(COLUMNS)


@pytest.mark.parametrize("hidden", [("pandas",), ("pandas", "polars")])
def test_mixed_columns_become_one_type(monkeypatch, hidden):
    hide(monkeypatch, *hidden)
    frame = make_frame({"arm": [1, "b", None], "x": [1, 2.5, None], "t": [(1, 2), (3, 4), (5, 6)]})
    columns = frame.to_dict(as_series=False) if isinstance(frame, polars.DataFrame) else frame.to_pydict()
    assert columns == {
        "arm": ["1", "b", None],
        "x": [1.0, 2.5, None],
        "t": ["(1, 2)", "(3, 4)", "(5, 6)"],
    }


def test_missing_packages_are_named(monkeypatch, tmp_path):
    (tmp_path / "x.csv").write_text(TEXT)
    hide(monkeypatch, "narwhals", "pyarrow")
    with pytest.raises(errors.MissingDependency, match=r"'narwhals'.*pip install 'linkarms\[data\]'"):
        from_frame(pandas.DataFrame({"a": ["x"], "v": [1.0]}), "a", "v")
    with pytest.raises(errors.MissingDependency, match=r"'pyarrow'.*pip install 'linkarms\[data\]'"):
        read_table(tmp_path / "x.csv")
