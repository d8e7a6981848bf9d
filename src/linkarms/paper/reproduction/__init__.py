"""The paper's figures and tables from our code, with the paper's own numbers beside them.

`reproduce` runs them; the other names are what it returns and the parts that it is made of.
"""

from linkarms.paper.reproduction._deviation import Deviation, Limit, compare
from linkarms.paper.reproduction._linkage_steps import LinkageSteps, linkage_steps
from linkarms.paper.reproduction._piece import Piece, Reproduction
from linkarms.paper.reproduction._reproduce import PIECES, reproduce
from linkarms.paper.reproduction._run_times import RunTime, RunTimes
from linkarms.paper.reproduction._runs import CurveRun, CurveSettings
from linkarms.paper.reproduction._slopes import SlopeRow, last_slope, theorem3
from linkarms.paper.reproduction._stopping_times import Slopes, StoppingTimes

__all__ = [
    "PIECES",
    "CurveRun",
    "CurveSettings",
    "Deviation",
    "Limit",
    "LinkageSteps",
    "Piece",
    "Reproduction",
    "RunTime",
    "RunTimes",
    "SlopeRow",
    "Slopes",
    "StoppingTimes",
    "compare",
    "last_slope",
    "linkage_steps",
    "reproduce",
    "theorem3",
]
