"""Where chunks run: our own threads, the user's executor, or Dask (in `_dask.py`)."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from threading import Event
from typing import Any

from linkarms.errors import InvalidInput
from linkarms.montecarlo._chunks import Chunk
from linkarms.montecarlo._failure import in_words
from linkarms.montecarlo._result import BackendError
from linkarms.montecarlo._task import Outcome, Packed, Task, pack, run_chunk

__all__ = ["Pool", "check_backend", "open_pool"]


class Pool:
    """The user's executor, of any kind. It is never shut down.

    Attributes
    ----------
    executor : concurrent.futures.Executor
        Where chunks are submitted.
    given : Task or Packed
        What is sent along with a chunk.
    event : threading.Event or None
        For workers in this process, which can be told to halt.
    cancels_running : bool
        Cancelling a future also drops a chunk that is being run.
    """

    event: Event | None = None
    cancels_running = False

    def __init__(self, executor: Executor, given: Task | Packed) -> None:
        self.executor, self.given = executor, given

    @property
    def workers(self) -> int:
        """How many chunks run at the same time."""
        count = getattr(self.executor, "_max_workers", None)
        return count if isinstance(count, int) else os.cpu_count() or 1

    @property
    def halts(self) -> bool:
        """Workers end soon after `halt`."""
        return self.event is not None

    def submit(self, chunk: Chunk) -> Future[Outcome]:
        """Send a chunk."""
        try:
            return self.executor.submit(run_chunk, self.given, chunk.start, chunk.stop, self.event)
        except BrokenExecutor:
            raise
        except RuntimeError as error:
            raise BackendError(
                f"the executor {type(self.executor).__name__} takes no work ({error}); give one that is open"
            ) from error

    def renew(self, error: BaseException) -> None:
        """Replace a broken executor, or raise."""
        raise BackendError(
            f"the executor {type(self.executor).__name__} is broken ({in_words(error)}); make a new one and call "
            "simulate again: the finished trials are in this error's .simulation"
        ) from error

    def halt(self) -> None:
        """Ask workers to end."""
        if self.event is not None:
            self.event.set()

    def note(self) -> str:
        """Return what users should know while they wait, or nothing; called a few times per second."""
        return ""

    def close(self) -> None:
        """Release our own resources."""


class Threads(Pool):
    """Threads of this process, for kernels run without the interpreter's lock."""

    def __init__(self, executor: Executor, given: Task) -> None:
        super().__init__(executor, given)
        self.event = Event()


class Processes(Pool):
    """The user's pool of processes; if it breaks, a new pool does the rest.

    This process does not: what killed a worker might kill it, too.
    """

    replaced = False

    def renew(self, error: BaseException) -> None:
        """Start processes like those of the broken pool."""
        old: Any = self.executor
        self.close()
        self.executor = ProcessPoolExecutor(
            self.workers,
            mp_context=getattr(old, "_mp_context", None),
            initializer=getattr(old, "_initializer", None),
            initargs=getattr(old, "_initargs", ()),
        )
        if not self.replaced:
            warnings.warn(
                f"a process of the executor died and the executor cannot be used any more ({in_words(error)}); the rest is run in new "
                "processes, as many as it had",
                RuntimeWarning,
                stacklevel=6,  # where simulate was called
            )
        self.replaced = True

    def close(self) -> None:
        """Shut down the replacement."""
        if self.replaced:
            self.executor.shutdown(wait=False, cancel_futures=True)


def is_client(backend: object) -> bool:
    """Whether it is a `distributed.Client`, without loading distributed for the question."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(backend, distributed.Client)


def check_backend(backend: object) -> None:
    """Raise `InvalidInput` for anything that is not a backend."""
    if isinstance(backend, str) and (backend in ("local", "dask") or "://" in backend):
        return
    if not isinstance(backend, Executor) and not is_client(backend):
        raise InvalidInput(
            f"backend={backend!r} is unknown; give 'local', 'dask', the address of a Dask scheduler such as 'tcp://host:8786', a "
            "distributed.Client, or a concurrent.futures.Executor"
        )


@contextlib.contextmanager
def open_pool(backend: Any, task: Task, jobs: int) -> Iterator[Pool]:
    """The pool of a backend; afterwards what was made for it is closed, and what is the user's is left as it was.

    Parameters
    ----------
    backend : str, Executor or distributed.Client
        As `check_backend` lets it pass.
    task : Task
        What the workers need to know.
    jobs : int
        Threads of ``"local"``, processes of ``"dask"``.
    """
    if backend == "local":
        with ThreadPoolExecutor(jobs, thread_name_prefix="linkarms") as executor:
            yield Threads(executor, task)
        return
    if isinstance(backend, ThreadPoolExecutor):
        yield Threads(backend, task)
        return
    pool: Pool
    if isinstance(backend, ProcessPoolExecutor):
        pool = Processes(backend, pack(task, "pickle"))
    elif isinstance(backend, Executor):
        by_value = importlib.util.find_spec("cloudpickle") is not None
        pool = Pool(backend, pack(task, "cloudpickle" if by_value else "pickle"))
    else:
        from linkarms.montecarlo._dask import DaskPool

        pool = DaskPool(backend, task, jobs)
    try:
        yield pool
    finally:
        pool.close()
