"""Where samples come from: simulated, recorded, or measured by a function.

Everything here is an `ArmSource`: it has the names of its arms and hands out one sample a pull.
"""

from linkarms.arms._base import ArmSource
from linkarms.arms._callables import CallableArms
from linkarms.arms._files import read_table
from linkarms.arms._frames import from_frame, make_frame
from linkarms.arms._make import make_source
from linkarms.arms._recorded import RecordedArms
from linkarms.arms._simulated import SimulatedArms

__all__ = [
    "ArmSource",
    "CallableArms",
    "RecordedArms",
    "SimulatedArms",
    "from_frame",
    "make_frame",
    "make_source",
    "read_table",
]
