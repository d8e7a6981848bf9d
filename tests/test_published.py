"""The paper's numbers: whole, in order, and in agreement with each other."""

import csv
import math

import numpy as np
import pytest
from benchmarks.paper import as_dict
from benchmarks.paper import published as milliseconds
from evidence import extract_published

from linkarms.errors import InvalidInput
from linkarms.paper import published

FIGURES = {"figure2": (8, 80), "figure3": (4, 40), "figure4": (4, 23), "figure5": (4, 23)}


@pytest.mark.parametrize("figure", FIGURES)
def test_every_curve_is_there_and_rises(figure):
    curves = published.curves(figure)
    assert (len(curves), sum(len(c.x) for c in curves)) == FIGURES[figure]
    for c in curves:
        assert len(c.x) == len(c.samples)
        assert np.all(np.diff(c.x) > 0), c
        assert np.all(np.diff(c.samples) > 0), c


def test_known_coordinates():
    """As quoted where the paper was read before, by other means."""
    ebc_h = published.curve("figure2", "ebc-h", (-5, 5), 0.01)
    at = {1.0: 1473, 23.11: 1898, 89.44: 3171, 200.0: 5293}
    assert {x: round(y) for x, y in zip(ebc_h.x, ebc_h.samples, strict=True) if x in at} == at
    rates = published.curve("figure3", "ebc-h", (0.1, 50))
    assert [round(y) for y in rates.samples[:2]] == [6861, 9017]
    assert rates.epsilon == 0.001
    assert round(published.curve("figure2", "atboc").samples[0]) == 1217
    assert [round(published.curve("figure2", "lucbboc").samples[i]) for i in (0, 2, 9)] == [1485, 3900, 11587]
    assert published.curve("figure5", "fixed").samples[0] == 10
    assert published.curve("figure4", "fixed").samples[-1] == 2001


@pytest.mark.parametrize("figure", FIGURES)
def test_totals_are_whole_numbers(figure):
    """So is the number of samples in all trials together; in Figures 4 and 5 that of errors, too."""
    for c in published.curves(figure):
        if c.trials is None:
            continue
        # means were printed in full, or to the eight digits that NumPy prints: that much rounding, times the trials, is left
        digits = max(len(repr(y).partition(".")[2]) for y in c.samples)
        room = 0.51 * c.trials * 1e-8 if digits == 8 else 1e-6
        for x, y in zip(c.x, c.samples, strict=True):
            assert abs(y * c.trials - round(y * c.trials)) <= room + 1e-6, (c.rule, y)
            if figure in ("figure4", "figure5") and len(repr(x)) > 6:
                errors = c.trials * math.exp(-x)
                assert abs(errors - round(errors)) < 1e-5, (c.rule, x)


def test_slopes_agree_with_the_coordinates():
    """Table 1 says how samples grow with log(1/delta): so do the plotted points."""
    rows = [s for s in published.slopes() if s.numerical is not None]
    assert len(rows) == 6
    for s in rows:
        for c in published.curves("figure2"):
            if (c.rule, c.epsilon) != (s.rule, s.epsilon):
                continue
            assert np.polyfit(c.x[1:], c.samples[1:], 1)[0] == pytest.approx(s.numerical, rel=0.02)
    assert {s.rule: s.theoretical for s in published.slopes()}["lower-bound"] == 20
    assert {s.rule: s.numerical for s in published.slopes("figure3")} == {
        "lower-bound": None,
        "ebc-h": 98.7,
        "ebc": 98.6,
    }


def test_run_times_are_read_by_the_benchmarks():
    assert milliseconds("ebc-h", 4) == 0.44
    assert milliseconds("atboc", 20) == 1133
    assert milliseconds("ebc", 5) is None
    assert as_dict()["arms"] == [4, 8, 14, 20]
    assert as_dict()["milliseconds"]["lucbboc"] == [0.69, 1.18, 2.05, 3.65]


def test_a_caller_cannot_spoil_the_table():
    published.run_times()["ebc"][4] = -1.0
    assert published.run_times()["ebc"][4] == 0.62


def test_what_is_not_there_is_refused():
    with pytest.raises(InvalidInput, match="figure9"):
        published.curves("figure9")
    with pytest.raises(InvalidInput, match="3 curves"):
        published.curve("figure2", "ebc")
    with pytest.raises(InvalidInput, match="0 curves"):
        published.curve("figure4", "atboc")
    with pytest.raises(InvalidInput, match="no slopes"):
        published.slopes("figure4")


SOURCE = r"""
\begin{axis}[ymax=3]
\addplot[blue, thick] coordinates {
  (1.0,   14.5)
  (2.5,16) };
\addplot[red] coordinates{ ( 1.0, 12.25) };
\legend{EBC-$|\Theta|=50$,
  EBC-H-$|\Theta|=50$}
\end{axis} \caption{} \label{fig:bernoulli}
\begin{tabular}{|c|c|c|}
\hline
  & Numerical & Theoretical \\ \hline
  Lower bound & - & 20 \\ \hline
  EBC-$\epsilon=0.1$ & 24.65 & 25 \\ \hline
\end{tabular}
\caption{x}
\label{Table: slope}
\begin{tabular}{|c|c|}
\hline
Number of Arms ($M$) & 4 \\ \hline
ATBOC & 21.1 \\ \hline
\end{tabular}
\label{Table: complexity}
The slope of EBC ($98.6$) and EBC-H ($98.7$) matches the theoretical lower bound slope ($98$).
"""


def test_the_reader_of_the_source(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(extract_published, "HERE", tmp_path)
    paper = tmp_path / "paper.tex"
    paper.write_text(SOURCE)
    extract_published.main([str(paper)])
    with (tmp_path / "figure3.csv").open() as file:
        rows = [list(r.values()) for r in csv.DictReader(file)]
    assert rows == [
        ["ebc", "0.1", "50", "0.001", "34", "1.0", "14.5"],
        ["ebc", "0.1", "50", "0.001", "34", "2.5", "16"],
        ["ebc-h", "0.1", "50", "0.001", "300", "1.0", "12.25"],
    ]
    assert (tmp_path / "run_times.csv").read_text() == "rule,arms,milliseconds\natboc,4,21.1\n"
    slopes = (tmp_path / "slopes.csv").read_text().splitlines()
    assert slopes[1:3] == ["figure2,lower-bound,,,20", "figure2,ebc,0.1,24.65,25"]
    assert "figure3.csv: 3 rows" in capsys.readouterr().out
