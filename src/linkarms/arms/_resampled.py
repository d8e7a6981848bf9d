"""Recorded arms as a problem: what `simulate` runs many trials on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from linkarms import _core
from linkarms.arms._recorded import RecordedArms
from linkarms.errors import InvalidInput
from linkarms.families import Family, resolve
from linkarms.problem import Problem

__all__ = ["Resampled", "resampled_problem"]

Array = NDArray[np.float64]


class Resampled(Family):
    """A family whose samples are records, drawn with replacement, whatever the parameter.

    Everything but the draw is that of ``model``: rules treat the samples as if they came from it, whether or not that is true.

    Parameters
    ----------
    model : Family
        The model of the samples; one that treats coordinates alike, not a product or categories.
    columns : sequence of arrays
        The records. One array of shape (n, d): rows are drawn. Several arrays of shape (n_i, 1): each coordinate is drawn on its own.

    Examples
    --------
    >>> import numpy as np
    >>> import linkarms as la
    >>> family = la.arms.Resampled(la.families.Gaussian(), [np.array([[1.0], [2.0]])])
    >>> sorted(set(family.draw(np.random.default_rng(0), np.zeros(1), 100).ravel().tolist()))
    [1.0, 2.0]
    """

    name = "resampled"

    def __init__(self, model: Family, columns: Sequence[Array]) -> None:
        self.model = model
        self.columns = tuple(columns)
        for key in ("support", "domain", "open_domain"):
            setattr(self, key, getattr(model, key))

    @property
    def n_features(self) -> int:
        """The coordinates of the records."""
        return sum(c.shape[1] for c in self.columns)

    def native(self, n_features: int) -> _core.Arm:
        """Return the model's."""
        return self.model.native(n_features)

    @property
    def variances(self) -> Literal["known", "separate", "shared", "coordinate", "full"]:
        """Return the model's."""
        return self.model.variances

    def contains(self, values: Array) -> NDArray[np.bool_]:
        """Return what the model returns."""
        return self.model.contains(values)

    def can_average(self, means: Array) -> NDArray[np.bool_]:
        """Return what the model returns."""
        return self.model.can_average(means)

    def statistics(self, values: Array) -> Array:
        """Return what the model returns."""
        return self.model.statistics(values)

    def check_parameter(self, theta: Array, where: str) -> None:
        """Return what the model returns."""
        self.model.check_parameter(theta, where)

    def draw(self, rng: np.random.Generator, theta: Array, size: int) -> Array:
        """Draw records, each as likely as any other."""
        return np.hstack([c[rng.integers(len(c), size=size)] for c in self.columns])

    def to_dict(self) -> dict[str, Any]:
        """Return the model and a digest of the records: enough to distinguish two families, not to rebuild one."""
        digest = hashlib.sha256()
        for c in self.columns:
            digest.update(np.array(c.shape, dtype=np.int64).tobytes() + np.ascontiguousarray(c).tobytes())
        return {"name": self.name, "model": self.model.to_dict(), "records": digest.hexdigest()}


def resampled_problem(
    data: Mapping[Any, Any],
    n_clusters: int,
    family: str | Family = "gaussian",
    *,
    independent: bool = False,
) -> Problem:
    """Return recorded samples as a `Problem` for `linkarms.simulate`, whose trials draw from the records with replacement.

    The parameters, and with them the true partition, are those of the full records.

    Parameters
    ----------
    data : dict
        Samples by the name of the arm, each an array of shape (n,) or (n, d). With ``independent``, for each arm a sequence of
        d arrays, which may have different lengths.
    n_clusters : int
        K.
    family : str or Family, default "gaussian", of variance 1
        The model of the samples; not a product, and no categories.
    independent : bool, default False
        Draw each coordinate on its own.

    Returns
    -------
    Problem
        Its families are `Resampled`.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.arms import resampled_problem
    >>> p = resampled_problem({"a": [1.0, 3.0], "b": [2.0, 2.2], "c": [9.0, 11.0, 10.0]}, n_clusters=2)
    >>> p.parameters.ravel().tolist(), p.labels.tolist()
    ([2.0, 2.1, 10.0], [0, 0, 1])
    """
    if independent:
        names = list(data)
        parts = {(name, i): column for name, columns in data.items() for i, column in enumerate(columns)}
        recorded = RecordedArms(parts)
        by_part = dict(zip(recorded.names, recorded.records, strict=True))
        lengths = {name: len(data[name]) for name in names}
        if len(set(lengths.values())) > 1 or recorded.n_features != 1:
            raise InvalidInput(
                f"the arms have different numbers of columns ({lengths}), or columns that are not flat; give each arm d flat arrays"
            )
        columns = {name: [by_part[name, i] for i in range(lengths[name])] for name in names}
    else:
        recorded = RecordedArms(data)
        names = list(recorded.names)
        columns = {name: [records] for name, records in zip(names, recorded.records, strict=True)}
    d = sum(c.shape[1] for c in columns[names[0]])
    models = resolve(family, len(names), d).families
    parameters = np.array(
        [_parameter(name, model, columns[name]) for name, model in zip(names, models, strict=True)]
    )
    families = [Resampled(model, columns[name]) for name, model in zip(names, models, strict=True)]
    return Problem(parameters, n_clusters, families, names)


def _parameter(name: Any, model: Family, columns: list[Array]) -> Array:
    """The maximum likelihood estimate of all records."""
    if model.name in ("product", "categorical"):
        raise InvalidInput(
            f"the {model.name} family cannot be used here; choose one that treats coordinates alike"
        )
    longest = max(len(c) for c in columns)
    rows = np.hstack([np.resize(c, (longest, c.shape[1])) for c in columns])  # every record of every column
    inside = model.contains(rows)
    if not inside.all():
        raise InvalidInput(
            f"arm {name!r}: record {int(np.argmin(inside))} (counted from 0) is not {model.support}; remove it, or choose "
            "another family"
        )
    means = [model.statistics(c).mean(axis=0) for c in columns]
    return model.mle(np.concatenate(means))
