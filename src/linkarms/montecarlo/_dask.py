"""Chunks on a Dask cluster."""

from __future__ import annotations

import logging
import math
import time
import warnings
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from importlib import import_module
from typing import Any

from linkarms.errors import InvalidInput, require
from linkarms.montecarlo._chunks import Chunk
from linkarms.montecarlo._failure import in_words
from linkarms.montecarlo._pools import Pool, is_client
from linkarms.montecarlo._result import BackendError
from linkarms.montecarlo._task import Outcome, Task, pack

__all__ = ["DaskPool"]

_ANSWER = 10.0  # seconds in which a scheduler has to answer
_PATIENCE = 30.0  # seconds without a worker before we speak up: a batch system may need hours to start one

#: Run by each process of our own cluster: Ctrl-C is for the caller, who closes it.
_DEAF = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"


class DaskPool(Pool):
    """A `distributed.Client` seen as an executor.

    Dask itself runs a chunk again on another worker when one dies. What it gives up on (`KilledWorker`, after a chunk was lost with
    four workers) or forgets (a scheduler that was restarted) comes back as a lost chunk.

    Parameters
    ----------
    backend : str or distributed.Client
        ``"dask"`` for a cluster of processes on this machine, which ends with the pool; the address of a scheduler; or a
        client, which stays open.
    task : Task
        Sent with each chunk. Scattered once, it would be lost with the worker that held it.
    jobs : int
        Processes of the local cluster.
    """

    cancels_running = True

    def __init__(self, backend: Any, task: Task, jobs: int) -> None:
        require("distributed", "dask")
        self._ours = ExitStack()
        self._cluster: Any = None
        self._jobs = jobs
        self._count, self._count_again = 0, 0.0
        self._deserted: float | None = None
        packed = pack(task, "cloudpickle")
        self.client = backend if is_client(backend) else self._connect(backend, jobs)
        if self.client.asynchronous:
            raise InvalidInput("the Dask client is asynchronous; give one made without asynchronous=True")
        super().__init__(self.client.get_executor(pure=False), packed)

    def _connect(self, backend: str, jobs: int) -> Any:
        distributed: Any = import_module("distributed")
        advice = "is it running, and is the address right?"
        try:
            if backend == "dask":
                advice = "in a script, call simulate below `if __name__ == '__main__':`"
                # no memory limit: a worker holds no data, and the compiler alone would go beyond a small one
                self._cluster = distributed.LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    processes=True,
                    memory_limit=0,
                    dashboard_address="127.0.0.1:0",  # any free port: the usual one may be taken
                    preload=[_DEAF],
                    silence_logs=logging.ERROR,
                )
                self._ours.enter_context(self._cluster)
            where, wait = (self._cluster, {}) if self._cluster else (backend, {"timeout": _ANSWER})
            return self._ours.enter_context(distributed.Client(where, set_as_default=False, **wait))
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            self._ours.close()
            raise InvalidInput(
                f"backend={backend!r}: there is no connection to a Dask scheduler ({in_words(error)}); {advice}"
            ) from error

    @property
    def workers(self) -> int:
        """Threads of all workers; they come and go, and are counted once a second."""
        if time.monotonic() >= self._count_again and self.client.status == "running":
            with suppress(OSError):  # a scheduler that has gone shows in the futures
                self._count = sum(self.client.nthreads().values())
            self._count_again = time.monotonic() + 1.0
        return self._count

    def submit(self, chunk: Chunk) -> Future[Outcome]:
        """Send a chunk, once the client is connected."""
        deadline = time.monotonic() + _ANSWER
        while self.client.status == "connecting" and time.monotonic() < deadline:
            time.sleep(0.1)
        if self.client.status != "running":
            raise BackendError(
                f"the connection to the Dask scheduler is lost (the client is {self.client.status}); the finished trials are in this "
                "error's .simulation"
            )
        return super().submit(chunk)

    def note(self) -> str:
        """Say so when there is nobody to do the work; a cluster of our own gets new workers."""
        if self._cluster is not None and self.workers < self._jobs:
            self._cluster.scale(self._jobs)  # Dask does not replace a worker that failed to come back in time
        if self.workers:
            self._deserted = None
            return ""
        now = time.monotonic()
        self._deserted = self._deserted or now
        if now - self._deserted > _PATIENCE:
            self._deserted = math.inf  # once is enough
            warnings.warn(
                f"the Dask cluster has had no worker for {_PATIENCE:.0f} s; simulate waits for one, and Ctrl-C returns the finished "
                "trials",
                RuntimeWarning,
                stacklevel=4,
            )
        return "waiting for a Dask worker"

    def close(self) -> None:
        """Close the client and the cluster, if they were made here."""
        self._ours.close()
