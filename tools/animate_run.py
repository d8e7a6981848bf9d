"""Draw one run as an animated SVG, docs/images/run.svg: arms being sampled, the dendrogram settling, the evidence reaching its threshold.

Run it with ``python tools/animate_run.py``. The picture is an ordinary image in the README; the site shows it with buttons, and on a phone
moves the groups ``tree`` and ``proof`` below the samples (``docs/_static/player.js``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import linkarms as la
from linkarms.plots import DendrogramInfo, dendrogram_info
from linkarms.regions import confidence_radii

TARGET = Path(__file__).parents[1] / "docs" / "images" / "run.svg"
TRUTH = {"oven 1": 1.0, "oven 2": 5.3, "oven 3": 1.4, "oven 4": 9.9, "oven 5": 5.8, "oven 6": 9.5}
N_CLUSTERS, DELTA, SEED = 3, 0.05, 5
SECONDS = 0.55  # per frame
HOLD = 6  # frames that the last one stays
LOW, HIGH = -1.5, 13.0  # of the axis of the samples


@dataclass(frozen=True)
class Moment:
    """A run after some of its samples."""

    result: la.Result
    tree: DendrogramInfo
    radii: tuple[float, ...]
    seen: tuple[tuple[float, ...], ...]
    last: int


def moments() -> list[Moment]:
    """Run the rule and look at it often at first, then less often."""
    rng = np.random.default_rng(SEED)
    c = la.BanditClusterer(N_CLUSTERS, list(TRUTH), family="gaussian", delta=DELTA)
    seen: list[list[float]] = [[] for _ in TRUTH]
    kept: list[Moment] = []
    while not c.done:
        (arm,) = c.ask()
        value = float(rng.normal(TRUTH[str(arm)]))
        c.tell(arm, value)
        m = list(TRUTH).index(str(arm))
        seen[m].append(value)
        n = c.n_samples
        if n < len(TRUTH) or not (c.done or n < 12 or n % 3 == 0):
            continue
        r = c.result()
        radii = confidence_radii(c.families, r.pulls, c.means, [[1.0]], DELTA)[:, 0]
        kept.append(Moment(r, dendrogram_info(r), tuple(radii), tuple(map(tuple, seen)), m))
    return kept


def sample_x(value: float) -> float:
    """Return the place of a sample's value on its axis."""
    return 92 + 288 * (min(max(value, LOW), HIGH) - LOW) / (HIGH - LOW)


def arms_panel(now: Moment) -> Iterator[str]:
    """Samples as ticks, the estimate as a dot on its confidence interval; the arm just sampled is marked."""
    x = sample_x
    for m, samples in enumerate(now.seen):
        y, colour = 74 + 42 * m, f"c{now.result.labels[m]}"
        centre = float(now.result.parameters[m, 0])
        low, high = centre - now.radii[m], centre + now.radii[m]
        if m == now.last:
            yield f'<rect class="last" x="18" y="{y - 18}" width="372" height="36" rx="6"/>'
        yield f'<text x="26" y="{y + 4}">{now.result.arms[m]}</text>'
        yield f'<path class="{colour} range" d="M{x(low):.1f} {y}H{x(high):.1f}"/>'
        ticks = "".join(f"M{x(s):.1f} {y - 11}v6" for s in samples)
        yield f'<path class="{colour} tick" d="{ticks}"/>'
        yield f'<circle class="{colour} dot" cx="{x(centre):.1f}" cy="{y}" r="5.5"/>'


def tree_panel(now: Moment) -> Iterator[str]:
    """Single linkage of the estimates, with its cut."""
    tallest = max(5.0, *(m[4] for m in now.tree.merges))

    def y(height: float) -> float:
        return 176 - 112 * height / tallest

    def x(row: float) -> float:
        return 452 + 34 * row

    for i, (name, label) in enumerate(zip(now.tree.arms, now.tree.labels, strict=True)):
        yield f'<circle class="c{label} dot" cx="{x(i)}" cy="180" r="4"/>'
        yield f'<text class="small" text-anchor="middle" x="{x(i)}" y="200">{name.split()[-1]}</text>'
    for a, b, from_a, from_b, top, label in now.tree.merges:
        colour = f"c{label}" if label >= 0 else "apart"
        d = f"M{x(a):.1f} {y(from_a):.1f}V{y(top):.1f}H{x(b):.1f}V{y(from_b):.1f}"
        yield f'<path class="{colour} branch" d="{d}"/>'
    if now.tree.cut is not None:
        yield f'<path class="cut" d="M436 {y(now.tree.cut):.1f}H640"/>'


def evidence_panel(history: list[Moment], total: int) -> Iterator[str]:
    """The evidence so far, against the threshold at which the rule stops."""
    threshold = history[-1].result.threshold
    top = 1.25 * threshold

    def x(n: int) -> float:
        return 436 + 204 * n / total

    def y(value: float) -> float:
        return 336 - 76 * min(max(value, 0.0), top) / top

    points = "L".join(f"{x(h.result.samples):.1f} {y(h.result.evidence):.1f}" for h in history)
    yield f'<path class="cut" d="M436 {y(threshold):.1f}H640"/>'
    yield f'<text class="small" x="436" y="{y(threshold) - 5:.1f}">threshold</text>'
    yield f'<path class="evidence" d="M436 {y(0.0)}L{points}"/>'
    n, e = history[-1].result.samples, history[-1].result.evidence
    yield f'<circle class="head" cx="{x(n):.1f}" cy="{y(e):.1f}" r="4"/>'


def caption(now: Moment) -> str:
    """Say what is known at this moment."""
    r = now.result
    if r.stopped:
        groups = "  |  ".join(", ".join(str(a).split()[-1] for a in group) for group in r.clusters)
        more = f'<tspan class="more">wrong with probability at most {DELTA:g}</tspan>'
        return f"{r.samples} samples: stop. Ovens {groups}; {more}"
    return f"{r.samples} samples; the last one from {r.arms[now.last]}"


STYLE = """
.run{--ink:#222832;--muted:#5b6470;--c0:#2a6f97;--c1:#c2394c;--c2:#8a6100;--paper:#fff;--mark:#eef1f5}
@media (prefers-color-scheme:dark){
.run{--ink:#ced6dd;--muted:#9ca4af;--c0:#6cb6e0;--c1:#f0788a;--c2:#e0b13e;--paper:#14181e;--mark:#262d36}}
.run text{fill:var(--ink);font:14px system-ui,sans-serif}.run .small{font-size:12px;fill:var(--muted)}.run .title{font-weight:600}
.run .paper{fill:var(--paper)}.run .last{fill:var(--mark)}.run path{fill:none;stroke:var(--muted)}
.run .c0{stroke:var(--c0)}.run .c1{stroke:var(--c1)}.run .c2{stroke:var(--c2)}
.run .c0.dot{fill:var(--c0)}.run .c1.dot{fill:var(--c1)}.run .c2.dot{fill:var(--c2)}
.run .range{stroke-width:5;stroke-opacity:.35;stroke-linecap:round}.run .tick{stroke-width:1.5;stroke-opacity:.7}
.run .branch{stroke-width:2.5}.run .cut{stroke-dasharray:5 4;stroke-width:1.5}.run .evidence{stroke:var(--ink);stroke-width:2}
.run .head{fill:var(--ink)}.run .frame{visibility:hidden}.run .frame.shown{visibility:visible}
"""


def draw(history: list[Moment]) -> str:
    """Return the whole picture."""
    total = history[-1].result.samples
    beats = len(history) + HOLD
    duration = beats * SECONDS
    share = 100 / beats
    style = STYLE + (
        f"@keyframes run-frame{{0%{{visibility:visible}}{share:.3f}%{{visibility:hidden}}100%{{visibility:hidden}}}}\n"
        f"@keyframes run-end{{0%{{visibility:visible}}{share * (HOLD + 1):.3f}%{{visibility:hidden}}100%{{visibility:hidden}}}}\n"
        f".run:not(.stepped) .frame{{animation:run-frame {duration:.2f}s step-end infinite}}\n"
        f".run:not(.stepped) .frame:last-of-type{{animation-name:run-end}}\n"
        "@media (prefers-reduced-motion:reduce){.run:not(.stepped) .frame{animation:none}"
        ".run:not(.stepped) .frame:last-of-type{visibility:visible}}\n"
    )
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" class="run" viewBox="0 0 660 400" role="img" aria-labelledby="run-title run-text">',
        '<title id="run-title">One run, sample by sample</title>',
        '<desc id="run-text">Six ovens are measured, one reading at a time. Ovens whose cluster is in doubt get more samples. The '
        f"dendrogram of the estimates settles into three clusters, and after {total} samples the evidence "
        "reaches the threshold at which the run stops.</desc>",
        f"<style>{style}</style>",
        '<rect class="paper" width="660" height="400" rx="10"/>',
        '<text class="title" x="18" y="32">Samples and estimates</text>',
        '<g class="tree"><text class="title" x="436" y="32">Single linkage</text></g>',
        '<g class="proof"><text class="title" x="436" y="240">Evidence</text>'
        '<path d="M436 336H640"/><text class="small" x="436" y="352">samples</text></g>',
        '<path d="M92 320H380"/><text class="small" x="18" y="338">reading</text>',
    ]
    parts += [
        f'<text class="small" text-anchor="middle" x="{sample_x(v):.1f}" y="338">{v}</text>'
        for v in (0, 4, 8, 12)
    ]
    for i in range(len(history)):
        parts.append(f'<g class="frame" style="animation-delay:{i * SECONDS:.2f}s">')
        parts += arms_panel(history[i])
        parts += ['<g class="tree">', *tree_panel(history[i]), "</g>"]
        parts += ['<g class="proof">', *evidence_panel(history[: i + 1], total), "</g>"]
        parts.append(f'<text class="caption" x="18" y="384">{caption(history[i])}</text></g>')
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    run = moments()
    TARGET.write_text(draw(run), "utf-8")
    print(
        f"{TARGET}: {len(run)} frames, {run[-1].result.samples} samples, {TARGET.stat().st_size // 1024} KB"
    )
