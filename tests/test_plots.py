from __future__ import annotations

import dataclasses
import importlib.util
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from tests.repeats import LONG, repeats

from linkarms import errors, plots
from linkarms.result import Result


def result(parameters, labels, **changes):
    parameters = np.ma.asanyarray(parameters)
    if not np.ma.is_masked(parameters):
        parameters = np.asarray(parameters, dtype=float)
    n = len(parameters)
    fields = {
        "labels": np.array(labels),
        "arms": tuple("abcdefghijklmnopqrstuvwxyz"[:n]) if n <= 26 else tuple(range(n)),
        "stopped": True,
        "delta": 0.05,
        "samples": 10 * n * (n + 1) // 2,
        "pulls": 10 * np.arange(1, n + 1),
        "parameters": parameters,
        "evidence": 12.5,
        "threshold": 12.0,
        "witness": None,
        "reason": "the evidence reached the threshold",
    }
    return Result(**{**fields, **changes})


#: Two clusters, {a, c, e} in a row and {b, d}, far apart.
PLANE = [[0.0, 0.0], [10.0, 0.0], [2.0, 0.0], [10.0, 1.0], [3.0, 0.0]]
LABELS = [0, 1, 0, 1, 0]
HISTORY = plots.History((5, 20, 40, 80), (0.0, 3.0, 6.0, 12.5), (float("inf"), 10.0, 11.0, 12.0))


def masked():
    estimates = np.ma.masked_array(PLANE, mask=[[False] * 2] * 3 + [[True] * 2] * 2)
    return result(estimates, [-1] * 5, stopped=False, evidence=0.0, threshold=float("inf"))


def empty(d):
    estimates = np.ma.masked_all((4, d))
    return result(estimates, [-1] * 4, pulls=np.zeros(4, int), samples=0, stopped=False, evidence=0.0)


# -- data ----------------------------------------------------------------------------------------------------


def test_arms_info_of_a_plane():
    info = plots.arms_info(result(PLANE, LABELS), true_parameters=np.array(PLANE) + 1.0)
    assert info.arms == ("a", "b", "c", "d", "e")
    assert info.labels == (0, 1, 0, 1, 0)
    assert info.points.tolist() == PLANE
    assert info.links == ((0, 2), (1, 3), (2, 4))
    assert info.axes == ("parameter 0", "parameter 1")
    assert info.truth.tolist() == (np.array(PLANE) + 1.0).tolist()
    assert info.missing == ()


def test_arms_with_equal_estimates_are_linked():
    estimates = [[0.0, 0.0], [0.0, 0.0], [5.0, 0.0], [5.0, 0.0], [5.0, 0.0]]
    assert plots.arms_info(result(estimates, [0, 0, 1, 1, 1])).links == ((0, 1), (2, 3), (2, 4))


def test_arms_info_leaves_out_arms_without_samples():
    info = plots.arms_info(masked(), true_parameters=PLANE)
    assert (info.arms, info.missing) == (("a", "b", "c"), ("d", "e"))
    assert info.points.tolist() == PLANE[:3]
    assert info.truth.tolist() == PLANE[:3]
    assert info.links == ()


def test_arms_info_of_a_line():
    info = plots.arms_info(result([[1.0], [5.0], [2.0]], [0, 1, 0]), true_parameters=[1.5, 5.5, 2.5])
    assert info.axes == ("parameter",)
    assert info.points.tolist() == [[1.0], [5.0], [2.0]]
    assert info.truth.tolist() == [[1.5], [5.5], [2.5]]


def test_principal_axes_keep_distances_and_order_by_variance():
    rng = np.random.default_rng(5)
    flat = np.column_stack([rng.normal(size=8) * 10.0, rng.normal(size=8)])
    basis = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    estimates = np.column_stack([flat, np.zeros((8, 2))]) @ basis + 7.0
    info = plots.arms_info(result(estimates, [0] * 8), true_parameters=estimates)

    def distances(points):
        return np.linalg.norm(points[:, None] - points[None], axis=2)

    assert info.points.shape == (8, 2)
    assert np.allclose(distances(info.points), distances(flat))
    assert info.points.var(axis=0)[0] > 10 * info.points.var(axis=0)[1]
    assert np.allclose(info.truth, info.points)
    share = info.points.var(axis=0) / info.points.var(axis=0).sum()
    assert info.axes[0] == f"principal axis 1 ({share[0]:.0%} of the variance)"


@pytest.mark.parametrize("n", [0, 1, 2])
def test_principal_axes_of_few_arms(n):
    estimates = np.ma.masked_array(np.eye(3), mask=[[m >= n] * 3 for m in range(3)])
    info = plots.arms_info(result(estimates, [-1] * 3))
    assert info.points.shape == (n, 2)
    assert np.isfinite(info.points).all()


def test_the_truth_needs_the_shape_of_the_estimates():
    with pytest.raises(errors.InvalidInput, match=r"shape \(2, 1\) and the estimates \(5, 2\)"):
        plots.arms_info(result(PLANE, LABELS), true_parameters=[1.0, 2.0])


def test_dendrogram_info():
    info = plots.dendrogram_info(result(PLANE, LABELS))
    assert info.arms == ("a", "c", "e", "b", "d")
    assert info.labels == (0, 0, 0, 1, 1)
    assert sorted(merge[4] for merge in info.merges) == [1.0, 1.0, 2.0, 7.0]
    by_height = {merge[4:]: merge[:4] for merge in info.merges}
    assert by_height[(1.0, 0)] == (1.0, 2.0, 0.0, 0.0)
    assert by_height[(1.0, 1)] == (3.0, 4.0, 0.0, 0.0)
    assert sorted(by_height[(2.0, 0)][:2]) == [0.0, 1.5]
    assert sorted(by_height[(7.0, -1)][:2]) == [0.75, 3.5]
    assert info.cut == 4.5


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 11, 12])
def test_the_cut_makes_the_clusters(n_clusters):
    estimates = np.random.default_rng(n_clusters).normal(size=(12, 3))
    tree = linkage(estimates, "single")
    between = np.r_[0.0, tree[:, 2], np.inf][12 - n_clusters :][:2].mean() if n_clusters > 1 else np.inf
    labels = fcluster(tree, between, "distance") - 1
    assert labels.max() + 1 == n_clusters
    info = plots.dendrogram_info(result(estimates, labels))
    assert sum(merge[4] < info.cut for merge in info.merges) == 12 - n_clusters
    inside = [merge[5] >= 0 for merge in info.merges if merge[4] < info.cut]
    across = [merge[5] >= 0 for merge in info.merges if merge[4] > info.cut]
    assert all(inside)
    assert not any(across)


def test_no_cut_before_there_are_clusters():
    info = plots.dendrogram_info(masked())
    assert info.cut is None
    assert info.arms == ("a", "c", "b")
    assert plots.dendrogram_info(empty(2)).merges == ()


def test_a_chain_of_thousands_has_a_dendrogram():
    info = plots.dendrogram_info(result(np.cumsum(np.arange(2000.0))[:, None], [0] * 2000))
    assert info.arms == tuple(str(i) for i in range(2000))


def test_pulls_info_has_the_clusters_one_after_the_other():
    info = plots.pulls_info(result(PLANE, LABELS))
    assert info == plots.PullsInfo(("a", "c", "e", "b", "d"), (0, 0, 0, 1, 1), (10, 30, 50, 20, 40))


def test_a_history_has_columns_of_one_length():
    with pytest.raises(
        errors.InvalidInput, match="2 samples, 1 values of the evidence and 2 of the threshold"
    ):
        plots.History([1, 2], [0.0], [1.0, 1.0])


class Run:
    """Stands in for a clusterer that gets one sample a step."""

    def __init__(self):
        self.n_samples, self.done, self.looks = 0, False, 0

    def result(self):
        self.looks += 1
        return SimpleNamespace(
            samples=self.n_samples, evidence=self.n_samples / 10, threshold=100.0, error_bound=0.5
        )


def test_the_recorder_looks_now_and_then_and_at_the_end():
    run, record = Run(), plots.HistoryRecorder(growth=0.1)
    assert record.history == plots.History()
    for t in range(1, 1001):
        run.n_samples, run.done = t, t == 1000
        record(run)
    history = record.history
    assert history.samples[:12] == (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13)
    assert history.samples[-1] == 1000
    assert np.diff(history.samples).min() > 0
    assert run.looks < 60
    assert history.evidence == tuple(t / 10 for t in history.samples)
    record.record(run.result())
    assert record.history == history


def test_colours_are_told_apart():
    colors = [plots.cluster_color(label) for label in range(8)]
    assert len({*colors, plots.cluster_color(-1)}) == 9
    assert plots.cluster_color(8) == colors[0]


# -- drawings ------------------------------------------------------------------------------------------------

#: Many more arms than have room for their names: drawing them takes seconds.
CROWD = repeats(100, 300)
RESULTS = {
    "line": result([[1.0], [5.0], [2.0]], [0, 1, 0]),
    "plane": result(PLANE, LABELS),
    "space": result(np.random.default_rng(0).normal(size=(9, 5)), [0, 1, 2, 3, 4, 5, 6, 7, 8]),
    "crowd": result(np.random.default_rng(0).normal(size=(CROWD, 2)), np.arange(CROWD) % 40),
    "masked": masked(),
    "empty": empty(1),
    "empty plane": empty(2),
    "empty space": empty(3),
    "equal": result(np.zeros((4, 2)), [0, 1, 0, 0]),
    "one": result([[3.0]], [0]),
    "one cluster": result(PLANE, [0] * 5),
    "money": result([[1.0], [5.0]], [0, 1], arms=("$a$ and \n a very long name indeed", "$x_")),
}


@pytest.mark.parametrize("which", RESULTS)
@pytest.mark.parametrize("plot", [plots.plot_arms, plots.plot_dendrogram, plots.plot_pulls])
def test_drawings_make_files(tmp_path, plot, which):
    axes = plot(RESULTS[which])
    axes.figure.savefig(tmp_path / "plot.png", dpi=50)
    assert (tmp_path / "plot.png").read_bytes()[:4] == b"\x89PNG"
    assert axes.get_title(loc="left")


@pytest.mark.parametrize("which", RESULTS)
@pytest.mark.parametrize("history", [None, HISTORY], ids=["end", "history"])
def test_summary_makes_a_file(tmp_path, which, history):
    figure = plots.summary(RESULTS[which], history)
    assert len(figure.axes) == 4
    # both kinds of file for each result; in the long form also for each of its two figures
    for kind in ("png", "svg") if LONG else ("png",) if history is None else ("svg",):
        figure.savefig(tmp_path / f"summary.{kind}", dpi=50)
        assert (tmp_path / f"summary.{kind}").stat().st_size > 5000


def test_the_reason_fits_the_page():
    result = dataclasses.replace(
        RESULTS["plane"], reason="no promise: " + "a long reason that says why " * 12
    )
    figure = plots.summary(result)
    headline, reason = figure.texts
    box = reason.get_window_extent()
    assert reason.get_text().count("\n") == 1
    assert reason.get_text().endswith("…")
    assert box.x1 <= figure.bbox.x1
    assert box.y1 <= headline.get_window_extent().y0


def test_a_run_that_stopped_does_not_say_when_it_would_have_stopped():
    def said(evidence):
        axes = plots.plot_evidence(plots.History((1, 2), (0.0, evidence), (5.0, 5.0), (1.0, 0.03)))
        return [text.get_text() for text in axes.texts]

    assert said(4.0) == ["would have stopped at delta = 0.03"]
    assert said(6.0) == []


@pytest.mark.parametrize(
    "history",
    [
        plots.History(),
        plots.History((7,), (1.0,), (float("nan"),)),
        plots.History((1, 2), (0.0, 0.0), (float("inf"), float("inf"))),
        plots.History((1, 2, 3), (0.0, -1.0, 2.0), (5.0, 5.0, 1.0)),
        HISTORY,
    ],
)
def test_evidence_makes_a_file(tmp_path, history):
    axes = plots.plot_evidence(history)
    axes.figure.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1000


def test_drawings_draw_on_the_given_axes():
    from matplotlib.figure import Figure

    grid = Figure().subplots(2, 2).ravel()
    given = RESULTS["plane"]
    drawn = [
        plots.plot_arms(given, PLANE, ax=grid[0]),
        plots.plot_dendrogram(given, ax=grid[1]),
        plots.plot_evidence(HISTORY, ax=grid[2]),
        plots.plot_pulls(given, ax=grid[3]),
    ]
    assert drawn == list(grid)
    assert [bar.get_width() for bar in grid[3].patches] == [10, 30, 50, 20, 40]
    colors = [plots.cluster_color(label) for label in (0, 0, 0, 1, 1)]
    assert [tick.get_color() for tick in grid[3].get_yticklabels()] == colors
    curve = next(line for line in grid[2].lines if line.get_label() == "evidence")
    assert curve.get_ydata().tolist() == list(HISTORY.evidence)


@pytest.mark.parametrize("which", ["line", "plane", "space", "money", "masked"])
def test_no_text_covers_another(which):
    figure = plots.summary(RESULTS[which], HISTORY)
    figure.canvas.draw_idle()
    boxes = []
    for axes in figure.axes:
        texts = [*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels()]
        texts += [axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label]
        texts += axes.get_legend().get_texts() if axes.get_legend() else []
        low, high = sorted(axes.get_ylim())
        left, right = sorted(axes.get_xlim())
        hidden = [t for t in axes.get_yticklabels() if not low <= t.get_position()[1] <= high]
        hidden += [t for t in axes.get_xticklabels() if not left <= t.get_position()[0] <= right]
        boxes += [
            (text.get_text(), text.get_window_extent())
            for text in texts
            if text.get_visible() and text.get_text() and text not in hidden
        ]
    boxes += [(text.get_text(), text.get_window_extent()) for text in figure.texts]
    page = figure.bbox
    for i, (text, box) in enumerate(boxes):
        assert page.x0 <= box.x0 < box.x1 <= page.x1, text
        assert page.y0 <= box.y0 < box.y1 <= page.y1, text
        for other, place in boxes[:i]:
            assert not box.overlaps(place), (text, other)


def test_every_arm_of_a_plane_is_named():
    axes = plots.plot_arms(RESULTS["plane"])
    assert {text.get_text() for text in axes.texts if text.get_visible()} == set("abcde")


def test_drawing_needs_matplotlib(monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "matplotlib" else real(name, *a)
    )
    for draw in (plots.summary, plots.plot_arms, plots.plot_dendrogram, plots.plot_pulls):
        with pytest.raises(errors.MissingDependency, match=r"pip install 'linkarms\[plots\]'"):
            draw(RESULTS["plane"])
    assert plots.arms_info(RESULTS["plane"]).arms == ("a", "b", "c", "d", "e")


def test_info_needs_no_matplotlib_and_drawing_no_pyplot():
    code = (
        "import sys, linkarms.plots as p; print('matplotlib' in sys.modules);p.plot_evidence(p.History((1, "
        "2), (0.0, 1.0), (2.0, 2.0))); print('matplotlib.pyplot' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False"]


def test_figures_are_those_of_pyplot_where_it_is_in_use_and_reports_leave_none_open(tmp_path):
    code = (
        "import sys, matplotlib; matplotlib.use('agg'); import matplotlib.pyplot as plt, linkarms.plots as p;"
        "from linkarms.paper import reproduce; p.write_report(reproduce('figure1'), sys.argv[1]); print(len(plt.get_fignums()));"
        "ax = p.plot_evidence(p.History((1, 2), (0.0, 1.0), (2.0, 2.0))); print(plt.gcf() is ax.figure)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["0", "True"]
