"""A scikit-learn estimator over recorded samples.

`BanditClustering` reads a table in long form: one row per sample, and ``groups`` names the arm of each row. It uses only as many rows as it
needs and gives every row the cluster of its arm.
"""

from __future__ import annotations

import warnings
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms.errors import InvalidInput, require

require("sklearn", "sklearn")

from sklearn.base import BaseEstimator, ClusterMixin  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.utils import check_random_state  # noqa: E402
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data  # noqa: E402

from linkarms.closed_loop import cluster  # noqa: E402
from linkarms.families import FamilyLike  # noqa: E402
from linkarms.result import Result  # noqa: E402
from linkarms.sampling import SamplingRule  # noqa: E402
from linkarms.stopping import StoppingRule  # noqa: E402

__all__ = ["BanditClustering"]


class BanditClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Cluster arms by their recorded samples, with as few of them as possible and a promised error probability.

    Parameters
    ----------
    n_clusters : int or None, default 2
        The number of clusters. None with ``distance_threshold``, or for the cut with the largest gap; see `linkarms.cluster`.
    distance_threshold : float, optional
        In place of ``n_clusters``: arms that are closer than this, directly or by way of others, share a cluster.
    tolerance : float, optional
        Differences of distances below this do not matter; see `linkarms.cluster`.
    family : str, Family or a sequence with one per arm, optional
        The distributions of the samples; see `linkarms.families`. By default ``"gaussian-unknown"``: real numbers of unknown variance.
    delta : float, default 0.05
        The promised error probability.
    sampling : str or SamplingRule, default "ebc-h"
        Which arm to sample next; see `linkarms.sampling`.
    stopping : str or StoppingRule, default "anytime"
        When to stop; see `linkarms.stopping`.
    replace : bool, default False
        Draw rows with replacement. Without, each row is used at most once, and the fit ends with no promise when an arm runs out of
        rows. With replacement the promise is about the table, not about where the table came from.
    max_samples : int, optional
        End the fit, with no promise, after this many samples.
    random_state : int, RandomState instance or None, default None
        Draws the rows. Give an integer to get the same answer every time.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_samples,)
        The cluster of each row: that of its arm.
    arm_labels_ : ndarray of int, shape (n_arms,)
        The cluster of each arm, in the order of `arms_`.
    arms_ : ndarray, shape (n_arms,)
        The names of the arms, sorted; without ``groups``, the row numbers.
    stopped_ : bool
        The stopping rule fired: the labels are wrong with probability at most ``delta``. When false there is no promise.
    n_samples_used_ : int
        How many samples were used.
    result_ : Result
        Everything that is known about the clusters.
    n_features_in_ : int
        The number of columns of ``X``.
    feature_names_in_ : ndarray of str, shape (n_features,)
        The names of the columns; only when ``X`` has names that are all strings.

    See Also
    --------
    linkarms.cluster : The same for data that are not a table, and for functions that measure.
    linkarms.BanditClusterer : Ask and tell, where each sample has to be measured first.

    Notes
    -----
    Without ``groups`` each row is an arm with one sample. Every row is then used, and the labels are the single-linkage clusters of the
    rows, as `sklearn.cluster.AgglomerativeClustering` finds them. One sample does not show how noisy an arm is, so there is a promise only
    if ``family`` says so (``"gaussian:0.01"``, for example) and the clusters are far enough apart.

    Examples
    --------
    Five sensors, 400 readings each, in three groups:

    >>> import numpy as np
    >>> from linkarms.sklearn import BanditClustering
    >>> rng = np.random.default_rng(0)
    >>> sensor = np.repeat(["s1", "s2", "s3", "s4", "s5"], 400)
    >>> level = {"s1": 1.0, "s2": 9.0, "s3": 1.2, "s4": 5.0, "s5": 9.3}
    >>> X = rng.normal([level[s] for s in sensor])[:, None]
    >>> model = BanditClustering(n_clusters=3, random_state=0).fit(X, groups=sensor)
    >>> model.stopped_, dict(zip(model.arms_.tolist(), model.arm_labels_.tolist()))
    (True, {'s1': 0, 's2': 1, 's3': 0, 's4': 2, 's5': 1})
    >>> model.n_samples_used_ < 500, model.labels_.shape
    (True, (2000,))
    """

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        distance_threshold: float | None = None,
        tolerance: float | None = None,
        family: FamilyLike | None = None,
        delta: float = 0.05,
        sampling: str | SamplingRule = "ebc-h",
        stopping: StoppingRule | str = "anytime",
        replace: bool = False,
        max_samples: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.tolerance = tolerance
        self.family = family
        self.delta = delta
        self.sampling = sampling
        self.stopping = stopping
        self.replace = replace
        self.max_samples = max_samples
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None, groups: ArrayLike | None = None) -> BanditClustering:
        """Cluster the arms of a table.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            One row per sample.
        y : Ignored
            Not used, present by scikit-learn's convention.
        groups : array of shape (n_samples,), optional
            The arm of each row. None means that each row is an arm.

        Returns
        -------
        BanditClustering
            The fitted estimator.
        """
        table = validate_data(self, X, dtype=np.float64)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        if groups is None:
            names, arm_of_row = np.arange(len(table)), np.arange(len(table))
        else:
            check_consistent_length(table, groups)
            names, arm_of_row = _arms_of_rows(groups)
        rows = dict(zip(names.tolist(), _rows_of_each(table, arm_of_row), strict=True))
        self.result_ = self._cluster(rows, groups is not None, seed)
        self.arms_ = names
        self.arm_labels_ = self.result_.labels
        self.labels_ = self.arm_labels_[arm_of_row]
        self.stopped_ = self.result_.stopped
        self.n_samples_used_ = self.result_.samples
        if groups is not None and not self.stopped_:
            warnings.warn(self.result_.reason, ConvergenceWarning, stacklevel=2)
        return self

    def _cluster(self, rows: dict[Any, NDArray[np.float64]], grouped: bool, seed: int) -> Result:
        """Run the loop over the rows of each arm; with ``grouped`` false each arm has one row."""
        if not grouped and self.replace:
            raise InvalidInput(
                "replace=True draws from the rows of each arm, and without groups each row is an arm; give groups, or replace=False"
            )
        return cluster(
            rows,
            self.n_clusters,
            family=self.family,
            delta=self.delta,
            sampling=self.sampling,
            stopping=self.stopping,
            seed=seed,
            max_samples=self.max_samples,
            replace=bool(self.replace),
            distance_threshold=self.distance_threshold,
            tolerance=self.tolerance,
        )


def _arms_of_rows(groups: ArrayLike) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted names of the arms, and the place of each row's arm among them."""
    given = column_or_1d(groups)
    missing = np.array([name is None or name != name for name in given.tolist()])  # NaN differs from itself
    if missing.any():
        raise InvalidInput(
            f"groups: {int(missing.sum())} rows have no arm, the first is row {int(missing.argmax())} (counted from 0); "
            "remove them or name their arm"
        )
    try:
        names, arm_of_row = np.unique(given, return_inverse=True)
    except TypeError as error:
        raise InvalidInput(
            f"groups mixes kinds of names ({error}); use strings only, or numbers only"
        ) from None
    return names, arm_of_row


def _rows_of_each(table: NDArray[np.float64], arm_of_row: NDArray[np.intp]) -> list[NDArray[np.float64]]:
    """Split a table into the rows of each arm, in their order."""
    order = np.argsort(arm_of_row, kind="stable")
    ends = np.cumsum(np.bincount(arm_of_row))[:-1]
    return cast("list[NDArray[np.float64]]", np.split(table[order], ends))
