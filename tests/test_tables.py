"""Data as people have it: arrays, wide tables, missing values, kinds of files, seeds, clipping."""

import gzip
import json
from types import SimpleNamespace

import numpy as np
import pytest

import linkarms as la
from linkarms.arms import from_frame, make_source, read_table
from linkarms.cli._app import run
from linkarms.cli._output import write_out
from linkarms.errors import ColumnsLeftOut, InvalidInput, ManyArms

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

ROWS = [("left", 1.5), ("left", 2.0), ("mid", 2.5), ("mid", 1.0), ("right", 9.0), ("right", 8.5)]


@pytest.fixture
def frame():
    return pandas.DataFrame(ROWS, columns=["place", "gap"])


def records(source):
    return {name: x.ravel().tolist() for name, x in zip(source.names, source.records, strict=True)}


EXPECTED = {"left": [1.5, 2.0], "mid": [2.5, 1.0], "right": [9.0, 8.5]}


def write_all(folder):
    """The same table in every kind of file."""
    lines = [f"{place},{gap}" for place, gap in ROWS]
    texts = {
        "a.csv": "\n".join(["place,gap", *lines]),
        "b.tsv": "\n".join(["place\tgap", *(x.replace(",", "\t") for x in lines)]),
        "c.csv": "\n".join(["place;gap", *(x.replace(",", ";") for x in lines)]),
        "d.csv": "\n".join(["place;gap", *(x.replace(",", ";").replace(".", ",") for x in lines)]),
        "e.txt": "\n".join(["place\tgap", *(x.replace(",", "\t") for x in lines)]),
        "f.jsonl": "\n".join(json.dumps({"place": place, "gap": gap}) for place, gap in ROWS),
    }
    paths = []
    for name, text in texts.items():
        path = folder / name
        path.write_text(text + "\n", encoding="utf-8")
        paths.append(path)
        if path.suffix != ".txt":
            zipped = folder / f"{name}.gz"
            zipped.write_bytes(gzip.compress(path.read_bytes()))
            paths.append(zipped)
    return paths


def test_every_kind_of_file_gives_the_same_samples(tmp_path, frame):
    paths = write_all(tmp_path)
    frame.to_parquet(tmp_path / "g.parquet")
    paths.append(tmp_path / "g.parquet")
    if __import__("importlib.util").util.find_spec("openpyxl"):
        frame.to_excel(tmp_path / "h.xlsx", index=False)
        paths.append(tmp_path / "h.xlsx")
    for path in paths:
        assert records(make_source(path, arm="place", value="gap")) == EXPECTED, path.name
        assert records(make_source(str(path), arm="place", value="gap")) == EXPECTED, path.name


def test_cluster_takes_a_path(tmp_path):
    path = write_all(tmp_path)[0]
    again = la.cluster(path, 2, arm="place", value="gap", family="gaussian", seed=1)
    assert again.clusters == [["left", "mid"], ["right"]]


def test_files_that_cannot_be_read(tmp_path):
    book = tmp_path / "torn.xlsx"
    book.write_bytes(b"not a workbook")
    with pytest.raises(InvalidInput, match=r"torn\.xlsx: cannot be read: this is not an Excel workbook"):
        read_table(book)
    with pytest.raises(InvalidInput, match=r"has to end in \.csv, .*\.xlsx"):
        read_table(tmp_path / "table.doc")
    lines = tmp_path / "torn.jsonl"
    lines.write_text('{"place": "left"\n')
    with pytest.raises(InvalidInput, match=r"torn\.jsonl: cannot be read"):
        read_table(lines)


def test_arrays_and_lists():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3, 40)) + np.array([[0.0], [0.5], [9.0]])
    by_name = la.cluster(dict(enumerate(table)), 2, seed=4)
    for arms in (table, list(table), [row.tolist() for row in table], tuple(table)):
        again = la.cluster(arms, 2, seed=4)
        assert (again.arms, again.samples, again.clusters) == ((0, 1, 2), by_name.samples, [[0, 1], [2]])
    assert make_source(rng.normal(size=(4, 30, 2))).n_features == 2
    assert make_source([[1.0, 2.0], [3.0]]).n_records == (2, 1)
    with pytest.raises(
        InvalidInput, match=r"the array has shape \(5,\); give one of shape \(arms, samples\)"
    ):
        make_source(np.arange(5.0))
    with pytest.raises(InvalidInput, match="numbers alone are not arms"):
        make_source([1.0, 2.0, 3.0])


def test_wide_tables(frame, tmp_path):
    wide = pandas.DataFrame(
        {
            "day": ["mo", "tu", "we"],
            "left": [1.0, 2.0, 3.0],
            "mid": [2.0, 2.5, None],
            "right": [9.0, 8.0, 9.5],
        }
    )
    with pytest.raises(
        InvalidInput, match=r"arm 'mid': 1 of 3 samples are missing .* leave them out with drop_missing"
    ):
        make_source(wide.drop(columns="day"), wide=True)
    with pytest.warns(
        ColumnsLeftOut, match=r"left out of the arms: 'day' \(without numbers\); name the columns"
    ):
        found = make_source(wide, wide=True, drop_missing=True)
    assert records(found) == {"left": [1.0, 2.0, 3.0], "mid": [2.0, 2.5], "right": [9.0, 8.0, 9.5]}
    assert make_source(wide, wide=True, value=["left", "right"]).names == ("left", "right")
    with pytest.raises(InvalidInput, match="'day' is not numeric"):
        make_source(wide, wide=True, value=["day", "left"])
    with pytest.raises(InvalidInput, match="give one of them"):
        make_source(wide, wide=True, arm="day")
    with pytest.raises(
        InvalidInput, match=r"or wide=True \(one column per arm\); the columns are 'day', 'left'"
    ):
        make_source(wide)
    with pytest.raises(InvalidInput, match="no column has numbers"):
        make_source(wide[["day"]], wide=True)


def test_no_column_of_a_wide_table_is_left_out_in_silence(tmp_path, linkarms):
    path = tmp_path / "wide.csv"
    path.write_text("a,b,c\n1,?,3\n2,2,5\n3,1,5\n")
    with pytest.raises(
        InvalidInput, match=r"column 'b' is not numeric: row 0 \(counted from 0\) has '\?'; give"
    ):
        make_source(path, wide=True)
    flags = pandas.DataFrame({"a": [True, False, True], "b": [1.0, 2.0, 3.0]})
    assert records(make_source(flags, wide=True)) == {"a": [1.0, 0.0, 1.0], "b": [1.0, 2.0, 3.0]}
    numbers = pandas.DataFrame({"a": [1.0, 2.0], "b": ["1.5", "2.5"]})
    with pytest.raises(InvalidInput, match=r"'b' is not numeric \(its type is .*\); convert it to numbers"):
        make_source(numbers, wide=True)
    flags.to_csv(path)
    flags.to_excel(tmp_path / "wide.xlsx")
    for table in (path, tmp_path / "wide.xlsx", pandas.read_csv(path)):
        with pytest.warns(ColumnsLeftOut, match=r"left out of the arms: 'Unnamed: 0' \(without a name\)"):
            assert make_source(table, wide=True).names == ("a", "b")
    said = linkarms("cluster", path, "--wide", "-k", "1", "--family", "poisson").stderr
    assert said == (
        "linkarms: left out of the arms: 'Unnamed: 0' (without a name); name the columns that are arms if that is not meant\n"
    )
    assert "left out" not in linkarms("cluster", path, "--wide", "-k", "1", "-q").stderr


def test_columns_with_spaces_and_commas_in_their_names(tmp_path, linkarms):
    path = tmp_path / "spaces.csv"
    path.write_text('id, temp,"x, y"\n1,0.5,7\n1,0.6,8\n2,9.5,9\n2,9.4,8\n3,9.5,8\n3,9.7,9\n')
    source = make_source(path, arm="id", value=["temp", "x, y"])
    assert (source.names, source.features) == ((1, 2, 3), ("temp", "x, y"))
    words = ("cluster", path, "--arm", "id", "-k", "2", "--json", "--family", "gaussian", "-q")
    assert json.loads(linkarms(*words, "--value", "temp").stdout)["arms"] == [1, 2, 3]
    assert len(json.loads(linkarms(*words, "--value", '"x, y",temp').stdout)["parameters"][0]) == 2
    assert (
        "there is no column 'x'; the columns are 'id', ' temp', 'x, y'"
        in linkarms(*words, "--value", "x, y").stderr
    )
    twice = pandas.DataFrame({"id": [1, 2], " v": [0.5, 1.5], "v ": [0.5, 1.5]})
    with pytest.raises(InvalidInput, match="there is no column 'v'"):
        from_frame(twice, "id", "v")
    with pytest.raises(InvalidInput, match="column ' id' is named twice"):
        from_frame(twice, "id", [" v", " id"])


def test_columns_whose_names_are_numbers(tmp_path):
    table = pandas.DataFrame(np.random.default_rng(0).normal([0.0, 0.3, 9.0], size=(40, 3)))
    assert la.cluster(table, 2, wide=True).clusters == [[0, 1], [2]]
    assert make_source(table, wide=True, value=[2, 0]).names == (2, 0)
    long = pandas.DataFrame(ROWS)
    for value in (1, [1], "1", np.int64(1)):
        assert records(make_source(long, arm=0, value=value)) == EXPECTED
    path = tmp_path / "numbers.csv"
    long.to_csv(path, index=False)
    assert records(make_source(path, arm=0, value=1)) == EXPECTED
    with pytest.raises(InvalidInput, match="there is no column 2; the columns are '0', '1'"):
        make_source(path, arm=0, value=2)
    table.columns = pandas.MultiIndex.from_tuples([("x", "a"), ("x", "b"), ("y", "c")])
    for how in ({"wide": True}, {"arm": ("x", "a"), "value": [("x", "b")]}):
        with pytest.raises(
            InvalidInput, match=r"have several levels, such as \('x', 'a'\); give each column one"
        ):
            make_source(table, **how)


def test_missing_values_are_refused_or_dropped():
    frame = pandas.DataFrame({"a": ["x", None, "y", "y", "z"], "v": [1.0, 2.0, np.nan, 4.0, np.inf]})
    with pytest.raises(InvalidInput, match="name the arm, or leave those rows out with drop_missing"):
        from_frame(frame, "a", "v")
    with pytest.raises(InvalidInput, match="fill them in, or leave those rows out with drop_missing"):
        from_frame(frame.dropna(subset="a"), "a", "v")
    assert records(from_frame(frame, "a", "v", drop_missing=True)) == {"x": [1.0], "y": [4.0]}
    with pytest.raises(InvalidInput, match="no row has an arm and finite numbers in 'v'"):
        from_frame(frame.assign(v=np.nan), "a", "v", drop_missing=True)
    with pytest.raises(InvalidInput, match="arm 'b': all 2 samples are missing"):
        make_source({"a": [1.0], "b": [np.nan, np.nan]}, drop_missing=True)
    with pytest.raises(InvalidInput, match="drop_missing=True is for recorded samples"):
        make_source([lambda: 1.0], drop_missing=True)


def test_a_column_with_thousands_of_values_gets_a_message():
    frame = pandas.DataFrame({"time": np.arange(1_500), "v": np.ones(1_500)})
    with pytest.warns(
        ManyArms, match=r"column 'time' has 1,500 different values in 1,500 rows, and each becomes an arm"
    ):
        from_frame(frame, "time", "v")


def test_seeds():
    data = {"a": np.arange(50.0), "b": np.arange(50.0) + 60, "c": np.arange(50.0) + 70}

    def samples(seed):
        return la.cluster(data, 2, seed=seed, family="gaussian-unknown").parameters.tolist()

    generator = np.random.default_rng(5)
    first, second = samples(generator), samples(generator)
    assert first != second
    assert first == samples(np.random.default_rng(5))
    assert samples(None) != samples(None)
    assert la.BanditClusterer(2, 3, seed=None, sampling="ebc").ask() == [0]
    with pytest.raises(InvalidInput, match="seed='x' is not a whole number"):
        samples("x")


def test_columns_name_the_axes(frame):
    result = la.cluster(frame, 2, arm="place", value="gap", family="gaussian")
    assert result.features == ("gap",)
    info = la.plots.arms_info(result)
    assert info.axes == ("gap",)


def test_intervals_hold_the_estimates_and_reach_the_table(frame, tmp_path):
    result = la.cluster(frame, 2, arm="place", value="gap", family="gaussian")
    table = result.to_frame()
    assert (table["low_0"] < table["parameter_0"]).all()
    assert (table["parameter_0"] < table["high_0"]).all()
    assert result.intervals.shape == (3, 1, 2)
    c = la.BanditClusterer(2, 3, family="gaussian")
    c.tell(0, 1.0)
    assert np.isnan(c.result().intervals[1:]).all()
    write_out(tmp_path / "out.csv", c.result(), None)
    written = pandas.read_csv(tmp_path / "out.csv")
    assert list(written) == list(c.result().to_frame())
    assert written.iloc[1:, 3:].isna().all(axis=None)
    radii = la.regions.confidence_radii(c.families, c.result().pulls, c.means, [[1.0]], c.delta)
    assert c.result().intervals[0, 0, 1] == pytest.approx(1.0 + radii[0, 0])


def test_clipping_is_declared_and_said():
    rng = np.random.default_rng(1)
    data = {
        name: np.minimum(rng.pareto(1.5, 400) + m, 1e4) for name, m in (("a", 0.0), ("b", 0.3), ("c", 30.0))
    }
    assert "tails" in {f.kind for f in la.cluster(data, 2, max_samples=50).checks}
    result = la.cluster(data, 2, clip=(0.0, 40.0))
    assert result.clusters == [["a", "b"], ["c"]]
    assert result.reason.endswith("these are clusters of the means of samples clipped to 0 .. 40")
    assert "tails" not in {f.kind for f in result.checks}
    measured = la.cluster(
        {"a": lambda: 1e9, "b": lambda: -1e9, "c": lambda: 7.0}, 2, clip=(0, 10), max_samples=30
    )
    assert measured.parameters.ravel().tolist() == [10.0, 0.0, 7.0]
    for clip, text in (((2.0, 1.0), "is empty"), (5.0, "not a pair"), (("a", 1), "not a finite number")):
        with pytest.raises(InvalidInput, match=text):
            la.cluster(data, 2, clip=clip)


def test_plan_and_bound_take_a_problem():
    p = la.problems.synthetic1()
    assert la.lower_bound(p).upper == la.lower_bound(p.parameters, 3).upper
    named = la.Problem([0.0, 0.5, 6.0], 2, arms=["a", "b", "c"])
    assert la.plan(named, sampling="ebc-h", trials=3, n_jobs=1).arms == ("a", "b", "c")
    with pytest.raises(InvalidInput, match="a Problem has its own n_clusters and family"):
        la.lower_bound(p, 2)
    with pytest.raises(InvalidInput, match="n_clusters is missing"):
        la.lower_bound(p.parameters)


@pytest.fixture
def linkarms(capsys):
    """Run a command in this process; tests/test_cli_process.py has processes of their own."""

    def call(*words):
        code = run([*map(str, words)])
        said = capsys.readouterr()
        return SimpleNamespace(returncode=code, stdout=said.out, stderr=said.err)

    return call


def test_command_line(linkarms):
    penguins, flights = map(la.datasets.sample_file, ("penguins", "flights"))
    words = ("cluster", penguins, "--arm", "species", "--value", "bill_depth_mm", "-k", "2")
    refused = linkarms(*words)
    assert refused.returncode == 2
    assert "leave those rows out with --drop-missing" in refused.stderr
    done = linkarms(*words, "--drop-missing", "--quiet")
    assert done.returncode == 0
    assert "Adelie, Chinstrap" in done.stdout
    wide = linkarms(
        "cluster",
        penguins,
        "--wide",
        "--value",
        "bill_length_mm,bill_depth_mm",
        "-k",
        "1",
        "--drop-missing",
        "--json",
        "-q",
    )
    assert json.loads(wide.stdout)["arms"] == ["bill_length_mm", "bill_depth_mm"]
    assert "--arm is missing" in linkarms("cluster", penguins, "-k", "2").stderr
    told = ("cluster", flights, "--arm", "origin", "--value", "arr_delay", "-k", "2", "--drop-missing")
    wrong = json.loads(linkarms(*told, "--family", "gaussian", "--json", "--quiet").stdout)
    assert any("times the declared one" in text for text in wrong["warnings"])
    clipped = linkarms(*told, "--clip=-30:120", "--max-samples", "500", "--quiet")
    assert clipped.returncode == 1
    assert "clipped to -30 .. 120" in clipped.stdout
    assert "LOW:HIGH" in linkarms(*told, "--clip", "5").stderr
