"""The exceptions of linkarms.

Every message says what was wrong, where, and what to do about it, in one line. Whatever raises one of these
leaves the state as it was.
"""

from __future__ import annotations

__all__ = [
    "ArmExhausted",
    "CallbackError",
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
    """The base of every error that linkarms raises on purpose."""


class InvalidInput(LinkarmsError, ValueError):
    """An argument that cannot be used: out of range, of the wrong shape, of an unknown name."""


class InvalidSample(InvalidInput):
    """A sample that cannot come from its arm: not finite, of the wrong shape, outside the support."""


class UnknownArm(InvalidInput, LookupError):
    """An arm that this run does not have, or a pull of it that nobody asked for."""


class ArmExhausted(LinkarmsError):
    """A recorded arm, drawn without replacement, has no sample left."""


class InvalidDump(LinkarmsError, ValueError):
    """A dump that cannot be loaded: damaged, of a newer format, or in need of the user's own class."""


class CallbackError(LinkarmsError):
    """A user's own family or rule raised an exception; it is the ``__cause__`` of this one."""


class DownloadError(LinkarmsError, OSError):
    """A public data set is not there and could not be fetched; the message says where to get it."""


class NotFound(LinkarmsError, LookupError):
    """A campaign or a ticket that does not exist."""


class Conflict(LinkarmsError):
    """A request that contradicts what is stored: another value for a ticket that was told, a name or a key that is taken."""


class TooLarge(LinkarmsError, ValueError):
    """More than a stated limit allows: arms, features, tickets at once, length of a text."""


class StorageError(LinkarmsError):
    """A database that cannot be used: damaged, full, locked, unreachable."""


class ServiceError(LinkarmsError):
    """A service that cannot be reached, or that does not let one in."""


class NewerSchema(StorageError):
    """A database that a newer linkarms has written."""


class MissingDependency(LinkarmsError, ImportError):
    """An optional package is not installed; the message holds the pip line."""


class FamilySuggestion(UserWarning):
    """A warning: the samples look like those of a certain family, and none was given. Giving any family silences it."""


class ManyArms(UserWarning):
    """A warning: the column that names the arms has thousands of different values, perhaps because it is the wrong one."""


def require(module: str, extra: str) -> None:
    """Raise `MissingDependency` with the pip line unless ``module`` can be imported.

    Parameters
    ----------
    module : str
        The module that is about to be imported.
    extra : str
        The extra of linkarms that brings it.
    """
    import importlib.util

    if importlib.util.find_spec(module) is None:
        raise MissingDependency(
            f"this needs the package {module!r}, which is not installed; run: pip install 'linkarms[{extra}]'"
        )
