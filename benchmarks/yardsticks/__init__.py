"""What a step is compared with: the same step in NumPy (a, a'), as a plain loop in C++ (b), and one row of distances (c)."""

from benchmarks.yardsticks.numpy_kept import NumpyStep
from benchmarks.yardsticks.numpy_step import PlainNumpyStep
from benchmarks.yardsticks.plain_loop import LoopStep

__all__ = ["YARDSTICKS"]

#: (a), (a') and (b), by the names of their figures in a report.
YARDSTICKS: dict[str, type[PlainNumpyStep] | type[LoopStep]] = {
    "plain_numpy": PlainNumpyStep,
    "numpy": NumpyStep,
    "loop": LoopStep,
}
