"""Data sets: small ones that ship with the package, and loaders of public ones.

`load_penguins`, `load_flights` and `load_taxi_sample` return a data frame with one row per sample, `sample_file` the path of the file
that they read. `load_bookings` and `load_ratings` read files that others publish into plain arrays, with a report of what they left out;
`fetch` gets such files.
"""

from linkarms.datasets._download import DATASETS, Dataset, fetch
from linkarms.datasets._load_report import LoadReport
from linkarms.datasets._movielens import Ratings, load_ratings
from linkarms.datasets._samples import load_flights, load_penguins, load_taxi_sample, sample_file
from linkarms.datasets._tlc import Bookings, load_bookings

__all__ = [
    "DATASETS",
    "Bookings",
    "Dataset",
    "LoadReport",
    "Ratings",
    "fetch",
    "load_bookings",
    "load_flights",
    "load_penguins",
    "load_ratings",
    "load_taxi_sample",
    "sample_file",
]
