"""The check of the model, from the samples that a campaign has stored."""

from __future__ import annotations

import json
from itertools import takewhile

import numpy as np

from linkarms.campaign._run import Run
from linkarms.campaign._storage import EXPIRED, OPEN, TOLD, Reader
from linkarms.checks import KEPT, ModelFit, Told

__all__ = ["read_fit"]


def read_fit(run: Run, reader: Reader) -> ModelFit:
    """Return the first samples of each arm in the order in which they count, without retracted ones, and the families."""
    if run.order.in_order:  # those that wait for an earlier ticket are not a fair part of what was asked for
        settled = takewhile(lambda row: row.state not in (OPEN, EXPIRED), reader.tickets())
        rows = [row for row in settled if row.state == TOLD]
    else:
        rows = sorted((row for row in reader.tickets() if row.state == TOLD), key=lambda row: row.number or 0)
    samples: list[list[list[float]]] = [[] for _ in run.arms]
    for row in rows:
        if len(samples[row.arm]) < KEPT:
            value = json.loads(row.value or "[]")
            samples[row.arm].append(value if run.clip is None else run.clip.apply(value).tolist())
    d = run.clusterer.n_features
    arrays = [np.array(x, dtype=np.float64).reshape(-1, d) for x in samples]
    return ModelFit(run.clusterer.families, run.arms, Told(arrays))
