"""Rules that say when the evidence is enough."""

from linkarms.stopping._anytime import Anytime
from linkarms.stopping._base import StoppingRule
from linkarms.stopping._boc import BOC
from linkarms.stopping._maxgap import MaxGap
from linkarms.stopping._paper import Paper
from linkarms.stopping._resolve import resolve_stopping, stopping_from_dict
from linkarms.stopping._size import SampleSize
from linkarms.stopping._weaken import weaken

__all__ = [
    "BOC",
    "Anytime",
    "MaxGap",
    "Paper",
    "SampleSize",
    "StoppingRule",
    "resolve_stopping",
    "stopping_from_dict",
    "weaken",
]
