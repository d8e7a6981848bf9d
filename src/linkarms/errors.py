"""The exceptions of linkarms.

Every message says what was wrong, where, and what to do about it, in one line. Whatever raises one of these
leaves the state as it was.
"""

from __future__ import annotations

__all__ = [
    "ArmExhausted",
    "CallbackError",
    "ColumnsLeftOut",
    "Conflict",
    "DownloadError",
    "FamilySuggestion",
    "InvalidDump",
    "InvalidInput",
    "InvalidSample",
    "LinkarmsError",
    "ManyArms",
    "MissingDependency",
    "NewerSchema",
    "NotFound",
    "ServiceError",
    "StorageError",
    "TooLarge",
    "UnknownArm",
    "require",
]


class LinkarmsError(Exception):
    """The base of every error that linkarms raises on purpose.

    Examples
    --------
    >>> import linkarms as la
    >>> try:
    ...     la.BanditClusterer(n_clusters=9, arms=6)
    ... except la.LinkarmsError as error:
    ...     print(error)
    n_clusters=9, but there are only 6 arms; choose 1 to 6
    """


class InvalidInput(LinkarmsError, ValueError):
    """An argument that cannot be used: out of range, of the wrong shape, of an unknown name.

    Examples
    --------
    >>> import linkarms as la
    >>> la.psi([1, 1, 1], [0.0, 1.0, 5.0], n_clusters=4)
    Traceback (most recent call last):
        ...
    linkarms.errors.InvalidInput: n_clusters=4, but there are only 3 arms; choose 1 to 3
    """


class InvalidSample(InvalidInput):
    """A sample that cannot come from its arm: not finite, of the wrong shape, outside the support.

    Examples
    --------
    >>> import linkarms as la
    >>> run = la.BanditClusterer(2, ["a", "b", "c"], family="bernoulli")
    >>> run.tell("a", 0.5)
    Traceback (most recent call last):
        ...
    linkarms.errors.InvalidSample: the sample 0.5 of arm 'a' is outside the support of the bernoulli family; it takes 0 or 1
    """


class UnknownArm(InvalidInput, LookupError):
    """An arm that this run does not have, or a pull of it that was not asked for.

    Examples
    --------
    >>> import linkarms as la
    >>> run = la.BanditClusterer(2, ["a", "b", "c"])
    >>> run.tell("d", 0.5)
    Traceback (most recent call last):
        ...
    linkarms.errors.UnknownArm: there is no arm 'd'; the arms are 'a', 'b', 'c'
    """


class ArmExhausted(LinkarmsError):
    """A recorded arm, drawn without replacement, has no sample left.

    Examples
    --------
    >>> import linkarms as la
    >>> arms = la.arms.RecordedArms({"a": [1.0]}, replace=False)
    >>> arms.pull(0)
    array([1.])
    >>> arms.pull(0)
    Traceback (most recent call last):
        ...
    linkarms.errors.ArmExhausted: arm 'a' is exhausted: all of its 1 recorded samples are used; ...
    """


class InvalidDump(LinkarmsError, ValueError):
    """A dump that cannot be loaded: damaged, of a newer format, or in need of the user's own class.

    Examples
    --------
    >>> import linkarms as la
    >>> la.BanditClusterer.load("not a dump")
    Traceback (most recent call last):
        ...
    linkarms.errors.InvalidDump: the dump is not JSON (...); give what dump() returned
    """


class CallbackError(LinkarmsError):
    """A user's own family raised an exception, which is the ``__cause__`` of this one; or a family or rule returned what it may not.

    That is NaN, a negative divergence, or an estimate outside the domain.

    Examples
    --------
    >>> import linkarms as la
    >>> class Broken(la.families.ScalarFamily):
    ...     name = "broken"
    ...     kl = staticmethod(lambda theta, lam: 1 // 0)
    ...     step = staticmethod(lambda theta, slope: theta + slope)
    ...     fisher = staticmethod(lambda theta: 1.0)
    ...
    ...     def draw(self, rng, theta, size):
    ...         return rng.normal(theta[0], 1.0, (size, 1))
    >>> la.psi([1, 1, 1], [0.0, 1.0, 5.0], n_clusters=2, family=Broken())
    Traceback (most recent call last):
        ...
    linkarms.errors.CallbackError: Broken.kl raised ZeroDivisionError: ...; correct the family's function
    """


class DownloadError(LinkarmsError, OSError):
    """A public data set is not there and could not be fetched; the message says where to get it.

    Examples
    --------
    >>> import linkarms as la
    >>> la.datasets.fetch("tlc-zones", "no-such-folder")
    Traceback (most recent call last):
        ...
    linkarms.errors.DownloadError: no-such-folder: taxi_zone_lookup.csv missing; get taxi_zone_lookup.csv from ...
    """


class NotFound(LinkarmsError, LookupError):
    """A campaign or a ticket that does not exist.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> la.campaign.Campaign.open("lab", pathlib.Path(tempfile.mkdtemp()) / "runs.db")
    Traceback (most recent call last):
        ...
    linkarms.errors.NotFound: there is no storage ...runs.db; create a campaign first, or correct the path
    """


class Conflict(LinkarmsError):
    """A request that contradicts what is stored: another value for a ticket that was told, a name or a key that is taken.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.db"
    >>> lab = la.campaign.Campaign.create("lab", ["a", "b", "c"], 2, storage=path)
    >>> la.campaign.Campaign.create("lab", ["a", "b", "c"], 2, storage=path)
    Traceback (most recent call last):
        ...
    linkarms.errors.Conflict: there is a campaign 'lab' already; open it, or choose another name
    """


class TooLarge(LinkarmsError, ValueError):
    """More than a stated limit allows: arms, features, tickets at once, length of a text.

    Examples
    --------
    >>> import linkarms as la
    >>> la.BanditClusterer(2, arms=100_000)
    Traceback (most recent call last):
        ...
    linkarms.errors.TooLarge: there are 100000 arms; ...
    """


class StorageError(LinkarmsError):
    """A database that cannot be used: damaged, full, locked, unreachable.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "notes.db"
    >>> path.write_text("not a database at all")
    21
    >>> la.campaign.Campaign.names(path)
    Traceback (most recent call last):
        ...
    linkarms.errors.StorageError: ...notes.db: the file is damaged or not a database; restore a copy (file is not a database)
    """


class ServiceError(LinkarmsError):
    """A service that cannot be reached, or that refuses access.

    Examples
    --------
    >>> from linkarms.client import Client
    >>> Client("lab", "http://127.0.0.1:9", patience=0.0).status()
    Traceback (most recent call last):
        ...
    linkarms.errors.ServiceError: http://127.0.0.1:9: the service cannot be reached ...
    """


class NewerSchema(StorageError):
    """A database that a newer linkarms has written.

    Examples
    --------
    >>> import linkarms as la
    >>> issubclass(la.errors.NewerSchema, la.errors.StorageError)
    True
    """


class MissingDependency(LinkarmsError, ImportError):
    """An optional package is not installed; the message holds the pip line.

    Examples
    --------
    >>> import linkarms as la
    >>> la.errors.require("no_such_package", "plots")
    Traceback (most recent call last):
        ...
    linkarms.errors.MissingDependency: this needs the package 'no_such_package', which is not installed; run: pip install 'linkarms[plots]'
    """


class FamilySuggestion(UserWarning):
    """A warning: the samples look like those of a certain family, and none was given. Giving any family silences it.

    Examples
    --------
    >>> import warnings
    >>> import linkarms as la
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     result = la.cluster({"a": [0, 1] * 50, "b": [1, 0] * 50, "c": [1, 1, 0] * 50}, 2, max_samples=30)
    >>> [w.category.__name__ for w in caught]
    ['FamilySuggestion']
    """


class ColumnsLeftOut(UserWarning):
    """A warning: columns of a wide table are not arms, because they have no name or no numbers. Naming the columns silences it.

    Examples
    --------
    >>> import warnings
    >>> import pandas
    >>> import linkarms as la
    >>> months = pandas.DataFrame({"place": ["x", "y"], "may": [1.5, 2.0], "june": [7.0, 6.5]})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     arms = la.arms.from_frame(months, arm=None, value=None)
    >>> print(caught[0].message)
    left out of the arms: 'place' (without numbers); name the columns that are arms if that is not meant
    """


class ManyArms(UserWarning):
    """A warning: the column that names the arms has thousands of different values, perhaps because it is the wrong one.

    Examples
    --------
    >>> import warnings
    >>> import pandas
    >>> import linkarms as la
    >>> visits = pandas.DataFrame({"id": range(2_000), "minutes": 1.5})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     arms = la.arms.from_frame(visits, arm="id", value="minutes")
    >>> print(caught[0].message)
    column 'id' has 2,000 different values in 2,000 rows, and each becomes an arm; ...
    """


def require(module: str, extra: str) -> None:
    """Raise `MissingDependency` with the pip line unless ``module`` can be imported.

    Parameters
    ----------
    module : str
        The module that is about to be imported.
    extra : str
        The extra of linkarms that brings it.

    Examples
    --------
    >>> from linkarms.errors import require
    >>> require("numpy", "plots")
    >>> require("no_such_package", "plots")
    Traceback (most recent call last):
        ...
    linkarms.errors.MissingDependency: this needs the package 'no_such_package', which is not installed; run: pip install 'linkarms[plots]'
    """
    import importlib.util

    if importlib.util.find_spec(module) is None:
        raise MissingDependency(
            f"this needs the package {module!r}, which is not installed; run: pip install 'linkarms[{extra}]'"
        )
