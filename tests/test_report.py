"""The report of a reproduction: what is written, that it stands alone, and the command that makes it."""

import base64
import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("typer")

from linkarms.cli._app import run
from linkarms.errors import InvalidInput
from linkarms.paper import Piece, Reproduction, published, reproduce
from linkarms.paper.reproduction import (
    CurveRun,
    CurveSettings,
    RunTime,
    RunTimes,
    Slopes,
    StoppingTimes,
    compare,
)
from linkarms.paper.reproduction import _linkage_steps as figure1
from linkarms.paper.reproduction._slopes import slope_rows
from linkarms.paper.reproduction._stopping_times import LIMITS
from linkarms.plots import (
    _report,
    linkage_steps_info,
    plot_linkage_steps,
    plot_run_times,
    plot_slopes,
    plot_stopping_times,
    run_times_info,
    slopes_info,
    stopping_times_info,
    write_report,
)


@pytest.fixture(scope="module")
def content():
    """Figure 2 as if ours had been 2% above the paper's, with a known spread."""
    runs = []
    for c in published.curves("figure2"):
        times = np.rint(1.02 * np.array(c.samples) + np.array([[-40.0], [0.0], [40.0]])).astype(np.int64)
        runs.append(CurveRun(CurveSettings(c, 3, 0), times, np.zeros(times.shape, dtype=bool)))
    return StoppingTimes("figure2", tuple(runs), {"mean": (19.068, 19.069)})


@pytest.fixture(scope="module")
def found(content):
    """A reproduction put together by hand, with a name that must be escaped."""
    rows = slope_rows("table1", content.runs, LIMITS["figure2"])
    times = RunTimes((RunTime("ebc-h", 4, (0.01, 0.02), 50, 0.44), RunTime("ebc-h", 8, (0.03,), 50, 0.64)))
    deviation = compare(
        ("figure2", "a <curve> | of ours", "1"), np.array([1.0, 2.0]), 3.0, 5, LIMITS["figure2"]["ebc"]
    )
    pieces = {
        "figure1": reproduce("figure1")["figure1"],
        "figure2": Piece("figure2", "Samples", content, (deviation,), {"figure2": [{"a": 1, "b": None}]}, {}),
        "table1": Piece("table1", "Slopes", Slopes(tuple(rows)), tuple(r.deviation for r in rows), {}, {}),
        "table2": Piece("table2", "Times", times, (), {"table2": [{"arms": 4, "x": float("nan")}]}, {}),
    }
    return Reproduction(
        pieces, {"figure4": "no <data>"}, {"quick": True, "trials": None, "seed": 0}, {"cpu": "a & b"}
    )


@pytest.fixture(scope="module")
def written(found, tmp_path_factory):
    """The folder ``out`` of a report with a page in ``docs``, and the paths; each takes seconds to draw."""
    folder = tmp_path_factory.mktemp("report")
    return folder, write_to(folder, found)


def write_to(folder, found):
    (folder / "docs").mkdir()
    return write_report(
        found, folder / "out", markdown=folder / "docs" / "page.md", command="linkarms reproduce all --quick"
    )


@pytest.fixture
def drawn_once(monkeypatch):
    """The picture of Figure 1 is drawn once for all commands; a test below shows that it would be the same each time."""

    def draw(piece):
        if piece.name not in DRAWN:
            DRAWN[piece.name] = really(piece)
        return DRAWN[piece.name]

    really = _report._draw
    monkeypatch.setattr(_report, "_draw", draw)


#: Pictures by the name of their piece.
DRAWN = {}


class Page(HTMLParser):
    """Collects tags, what they refer to, and the words."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.references, self.words = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.references += [
            v for k, v in attributes if k in ("src", "href", "srcset", "data", "action", "poster")
        ]

    def handle_data(self, data):
        self.words.append(data)


def test_the_html_page_stands_alone(written):
    out = written[0] / "out"
    text = (out / "report.html").read_text("utf-8")
    page = Page(text)
    assert not page.tags & {"script", "link", "iframe", "object", "embed", "base"}
    assert len(page.references) == 4
    for reference, name in zip(page.references, ("figure1", "figure2", "table1", "table2"), strict=True):
        kind, _, data = reference.partition(",")
        assert kind == "data:image/png;base64"
        assert base64.b64decode(data) == (out / f"{name}.png").read_bytes()
    outside = re.sub(r"base64,[^\"]*", "", text)
    assert not re.search(r"https?:|@import|url\(", outside)
    words = " ".join(page.words)
    for wanted in (
        "a <curve> | of ours",
        "no <data>",
        "a & b",
        "linkarms reproduce all --quick",
        "beyond",
        "-50.0%",
    ):
        assert wanted in words


def test_what_is_written(found, written):
    folder, paths = written
    page = folder / "docs" / "page.md"
    assert all(p.is_file() for p in paths)
    names = {p.name for p in paths}
    pictures = {f"{n}.{kind}" for n in ("figure1", "figure2", "table1", "table2") for kind in ("png", "pdf")}
    assert names == pictures | {
        "figure1.csv",
        "figure2.csv",
        "table2.csv",
        "deviations.csv",
        "report.json",
        "report.html",
        "page.md",
    }
    assert (folder / "out" / "figure2.pdf").read_bytes()[:4] == b"%PDF"
    assert json.loads((folder / "out" / "report.json").read_text()) == json.loads(json.dumps(found.to_dict()))
    assert (folder / "out" / "figure2.csv").read_text() == "a,b\n1,\n"
    rows = list(csv.DictReader((folder / "out" / "deviations.csv").read_text().splitlines()))
    assert [float(r["ours"]) for r in rows] == [d.ours for d in found.deviations]
    text = page.read_text("utf-8")
    for link in re.findall(r"\]\((.+?)\)", text):
        assert (page.parent / link).is_file()
    assert r"a <curve> \| of ours" in text


def test_the_same_numbers_give_the_same_files(found, written, tmp_path):
    for one, other in zip(written[1], write_to(tmp_path, found), strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


def test_what_the_pictures_show(content, found):
    info = stopping_times_info(content)
    assert info.t_star == 19.068
    for curve, paper in zip(info.curves, published.curves("figure2"), strict=True):
        assert curve.paper == paper.samples
        assert np.allclose(curve.mean, 1.02 * np.array(paper.samples), atol=0.5)
        # the spread of -40, 0, 40 is 40
        assert np.allclose(np.array(curve.high) - curve.low, 2 * 1.96 * 40 / np.sqrt(3))
    ax = plot_stopping_times(content)
    drawn = [line for line in ax.get_lines() if len(line.get_xdata()) == 10]
    assert len(drawn) == 16
    assert np.array_equal(drawn[1].get_ydata(), published.curves("figure2")[0].samples)
    slopes = slopes_info(found["table1"].content)
    assert slopes.slopes == pytest.approx([1.02 * x for x in slopes.paper], rel=1e-3)
    assert plot_slopes(found["table1"].content).get_legend() is not None
    assert run_times_info(found["table2"].content).curves == (("ebc-h", (4, 8), (0.015, 0.03), (0.44, 0.64)),)
    assert plot_run_times(found["table2"].content).get_yscale() == "log"
    steps = linkage_steps_info(found["figure1"].content)
    assert steps.clusters[-1] == ((0, 1), (2, 3), (4, 5))
    assert len(plot_linkage_steps(found["figure1"].content).axes) == 4


def test_a_place_that_cannot_be_written(found, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_report(found, tmp_path / "file")


@pytest.mark.usefixtures("drawn_once")
def test_command(tmp_path, capsys, monkeypatch):
    out = tmp_path / "out"
    assert run(["reproduce", "figure1", "--out", str(out), "-q"]) == 0
    printed = capsys.readouterr()
    assert "the same as the paper's" in printed.out
    assert printed.err == ""
    assert (out / "report.html").is_file()
    assert run(["reproduce", "figure1", "--out", str(out), "--json", "-q", "--seed", "3"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["agrees"] is True
    assert answer["settings"]["seed"] == 3
    assert answer["pieces"]["figure1"]["answer"] == "the same as the paper's"
    page = (out / "report.html").read_text()
    assert "linkarms reproduce figure1 --seed 3</pre>" in page  # and no path of this machine
    assert str(tmp_path) not in page
    monkeypatch.chdir(tmp_path)
    assert run(["reproduce", "figure1", "--out", "here", "--markdown", "page.md", "-q"]) == 0
    command = "linkarms reproduce figure1 --out here --markdown page.md"
    assert f"```bash\n{command}\n```" in (tmp_path / "page.md").read_text()


def test_command_exits_with_1_where_we_differ(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(figure1, "PAPER_STEPS", (*figure1.PAPER_STEPS[:3], ((1,), (2, 3, 4), (5, 6))))
    assert run(["reproduce", "figure1", "--out", str(tmp_path), "-q"]) == 1
    assert "DIFFERS" in capsys.readouterr().out


@pytest.mark.usefixtures("drawn_once")
def test_command_all_without_data_is_no_failure(tmp_path, capsys, monkeypatch):
    from linkarms.paper.reproduction import _reproduce

    blank = reproduce("figure1")["figure1"]
    for name in ("run_stopping_times", "run_table1", "run_table2"):
        monkeypatch.setattr(_reproduce, name, lambda *arguments: blank)
    assert run(["reproduce", "all", "--out", str(tmp_path), "-q"]) == 0
    out = capsys.readouterr().out
    assert out.count("not run") == 2
    assert "nyc.gov" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["figure9"], "there is no 'figure9' in the paper"),
        (["figure4"], "figure4 needs public data"),
        (["figure5", "--movielens", "nowhere"], "nowhere: there is no such folder"),
        (["figure2", "--trials", "0"], "trials"),
        (["figure2", "--trials", "ten"], "--trials ten: write a whole number"),
        (["figure2", "--trials", "ebc=5,7"], "one number for all rules"),
        (["figure2", "--trials", "moon=5"], "trials of 'moon'"),
        (["figure1", "--markdown", "nowhere/page.md"], "there is no directory nowhere"),
    ],
)
def test_command_with_bad_input(words, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["reproduce", *words, "-q"]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert len(printed.err.splitlines()) == 1
    assert printed.out == ""


def test_command_with_an_out_that_is_a_file(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert run(["reproduce", "figure1", "--out", str(tmp_path / "file"), "-q"]) == 2
    assert "this folder cannot be written to" in capsys.readouterr().err


def test_the_committed_report():
    """Its numbers are those of the paper and, for EBC and EBC-H, of the runs kept as evidence (the same seed)."""
    root = Path(__file__).parents[1]
    rows = list(
        csv.DictReader(
            (root / "evidence" / "reproduction" / "deviations.csv").read_text("utf-8").splitlines()
        )
    )
    kept = json.loads((root / "evidence" / "paper_figures.json").read_text("utf-8"))
    names = {(-500, 0.1): "1000 0.1", (-500, 0.01): "1000 0.01", (-5, 0.01): "10 0.01"}
    checked = 0
    for figure in ("figure2", "figure3"):
        for c in published.curves(figure):
            label = CurveSettings(c, 1, 0).label
            mine = [r for r in rows if (r["piece"], r["curve"]) == (figure, label) and r["point"] != "slope"]
            assert [float(r["paper"]) for r in mine] == list(c.samples)
            assert [r["verdict"] for r in mine] == ["within"] * 10
            if c.theta is None:
                continue
            name = names[c.theta[0], c.epsilon] if figure == "figure2" else f"{c.theta[1]:g}"
            times = np.array(kept[figure][f"{c.rule} {name}"]["times"][:100])
            assert {int(r["trials"]) for r in mine} == {100}
            assert [float(r["ours"]) for r in mine] == pytest.approx(times.mean(axis=0).tolist())
            checked += 1
    assert checked == 10
    report = json.loads((root / "evidence" / "reproduction" / "report.json").read_text("utf-8"))
    assert report["settings"]["seed"] == kept["seed"]
    told = [d for piece in report["pieces"].values() for d in piece["deviations"]]
    assert [(d["curve"], d["verdict"]) for d in told] == [(r["curve"], r["verdict"]) for r in rows]
    assert [d["percent"] for d in told] == pytest.approx([float(r["percent"]) for r in rows])
