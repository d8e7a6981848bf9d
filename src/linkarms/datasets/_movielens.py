"""MovieLens: the ratings of each user, by genre; HetRec 2011's ``.dat`` files and the ``ratings.csv`` layout."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from linkarms._progress import Progress
from linkarms.datasets._load_report import LoadReport
from linkarms.errors import InvalidInput

__all__ = ["Ratings", "load_ratings"]

#: Half stars in both layouts.
LOWEST, HIGHEST = 0.5, 5.0


@dataclass(frozen=True)
class _Layout:
    """Names and format of the two files of a layout."""

    ratings: str
    rating_columns: tuple[str, str, str]  # user, movie, rating
    genres: str
    genre_columns: tuple[str, str]  # movie, genre or genres joined by "|"
    encoding: str
    delimiter: str


_LAYOUTS = (
    _Layout(
        "user_ratedmovies.dat",
        ("userID", "movieID", "rating"),
        "movie_genres.dat",
        ("movieID", "genre"),
        "latin-1",
        "\t",
    ),
    _Layout(
        "ratings.csv", ("userId", "movieId", "rating"), "movies.csv", ("movieId", "genres"), "utf-8", ","
    ),
)


@dataclass(frozen=True)
class Ratings:
    """Ratings by user and genre.

    Attributes
    ----------
    users : dict of int to tuple of ndarray
        For each user one array per genre, in the order of the file. A movie of several of the genres is in several arrays; a
        user without a rating in one of the genres is left out.
    genres : tuple of str
        The genres.
    report : LoadReport
        What became of the rows of the file of ratings; a row is kept if its movie is of one of the genres.

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.datasets import LoadReport, Ratings
    >>> stars = {7: (np.array([3.5, 4.5]), np.array([4.0]))}
    >>> found = Ratings(stars, ("Comedy", "Drama"), LoadReport("ratings.csv", 3, 3, {}))
    >>> dict(zip(found.genres, (float(x.mean()) for x in found.users[7])))
    {'Comedy': 4.0, 'Drama': 4.0}
    """

    users: dict[int, tuple[NDArray[np.float64], ...]]
    genres: tuple[str, ...]
    report: LoadReport


def load_ratings(
    folder: str | Path, genres: Sequence[str] = ("Comedy", "Drama"), *, progress: bool = False
) -> Ratings:
    """Return the ratings of each user in some genres.

    Parameters
    ----------
    folder : str or Path
        With ``user_ratedmovies.dat`` and ``movie_genres.dat`` (HetRec 2011: tabs, latin-1), or with ``ratings.csv`` and
        ``movies.csv`` (MovieLens: commas, UTF-8).
    genres : sequence of str, default ("Comedy", "Drama")
        One coordinate each.
    progress : bool, default False
        Show progress on stderr.

    Returns
    -------
    Ratings
        Arrays by user, with a report of the rows dropped.

    Raises
    ------
    linkarms.errors.InvalidInput
        A file is missing, in another encoding or lacks a column, or no user is left.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from linkarms.datasets import load_ratings
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "movies.csv").write_text("movieId,title,genres\\n1,Heat,Drama\\n2,Airplane!,Comedy\\n")
    >>> _ = (folder / "ratings.csv").write_text("userId,movieId,rating,timestamp\\n7,1,4.0,0\\n7,2,3.5,0\\n")
    >>> load_ratings(folder).users
    {7: (array([3.5]), array([4.]))}
    """
    folder = Path(folder)
    wanted = tuple(genres)
    if isinstance(genres, str) or not wanted or len(set(wanted)) < len(wanted):
        raise InvalidInput(
            f"genres={genres!r} is not a list of genres; give different names, such as ('Comedy', 'Drama')"
        )
    layout = _find_layout(folder)
    with Progress("reading ratings", enabled=progress) as bar:
        movies = _read_genres(folder / layout.genres, layout, wanted)
        users, report = _read_ratings(folder / layout.ratings, layout, movies, bar)
    found = {
        user: tuple(np.array(part, dtype=np.float64) for part in parts)
        for user, parts in sorted(users.items())
        if all(parts)
    }
    if not found:
        raise InvalidInput(
            f"no user has rated movies of {' and '.join(wanted)} ({report}); look at the files and genres"
        )
    return Ratings(found, wanted, report)


def _find_layout(folder: Path) -> _Layout:
    for layout in _LAYOUTS:
        if (folder / layout.ratings).is_file() and (folder / layout.genres).is_file():
            return layout
    pairs = ", or ".join(f"{x.ratings} and {x.genres}" for x in _LAYOUTS)
    raise InvalidInput(
        f"{folder}: {'there is no such folder' if not folder.is_dir() else f'the files are missing; it needs {pairs}'}"
    )


def _rows(path: Path, layout: _Layout, columns: Sequence[str]) -> Iterator[list[str] | None]:
    """The named cells of each row; None where a row is too short."""
    with path.open("rb") as file:
        start = file.read(4096)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in start:
        raise InvalidInput(
            f"{path}: this is not {layout.encoding} text (it looks like UTF-16); save it as {layout.encoding}"
        )
    # a mark of UTF-8 at the start is no part of the first column's name, in neither layout
    encoding = (
        "utf-8-sig" if layout.encoding == "utf-8" or start.startswith(codecs.BOM_UTF8) else layout.encoding
    )
    quoting: Literal[0, 3] = csv.QUOTE_NONE if layout.delimiter == "\t" else csv.QUOTE_MINIMAL
    with path.open(encoding=encoding, newline="") as text:
        reader = csv.reader(text, delimiter=layout.delimiter, quoting=quoting)
        try:
            head = next(reader, [])
            missing = [c for c in columns if c not in head]
            if missing:
                raise InvalidInput(
                    f"{path}: there is no column {' or '.join(map(repr, missing))}; the columns are {', '.join(map(repr, head))}"
                )
            places = [head.index(c) for c in columns]
            for row in reader:
                if row:
                    yield [row[i] for i in places] if len(row) == len(head) else None
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"{path}: not {layout.encoding} text after line {reader.line_num} ({error.reason}); save it as {layout.encoding}"
            ) from error
        except csv.Error as error:
            raise InvalidInput(f"{path}: line {reader.line_num} cannot be read ({error}); fix it") from error


def _read_genres(path: Path, layout: _Layout, wanted: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """For each movie the places of its genres in ``wanted``; empty for movies of other genres."""
    movies: dict[str, tuple[int, ...]] = {}
    seen: set[str] = set()
    for row in _rows(path, layout, layout.genre_columns):
        if row is None:
            continue  # its movie stays unknown, and its ratings are counted as such
        movie, names = row[0], row[1].split("|")
        seen.update(names)
        mine = tuple(i for i, g in enumerate(wanted) if g in names)
        movies[movie] = tuple(sorted({*movies.get(movie, ()), *mine}))
    for genre in wanted:
        if genre not in seen:
            raise InvalidInput(f"{path}: there is no genre {genre!r}; there are {', '.join(sorted(seen))}")
    return movies


def _read_ratings(
    path: Path, layout: _Layout, movies: dict[str, tuple[int, ...]], bar: Progress
) -> tuple[dict[int, list[list[float]]], LoadReport]:
    n_genres = 1 + max(i for places in movies.values() for i in places)
    users: dict[int, list[list[float]]] = {}
    seen: set[tuple[int, str]] = set()
    dropped: dict[str, int] = {}
    rows = kept = 0
    for row in _rows(path, layout, layout.rating_columns):
        rows += 1
        if rows % 65536 == 0:
            bar.update(0.5, f"{rows:,} rows")
        parsed = _parse(row)
        if isinstance(parsed, str):
            reason = parsed
        else:
            user, movie, rating = parsed
            places = movies.get(movie)
            if (user, movie) in seen:
                reason = "for the second time"
            elif places is None:
                reason = "of movies without a genre"
            elif not places:
                reason = "of other genres"
            else:
                kept += 1
                seen.add((user, movie))
                parts = users.setdefault(user, [[] for _ in range(n_genres)])
                for i in places:
                    parts[i].append(rating)
                continue
        dropped[reason] = dropped.get(reason, 0) + 1
    return users, LoadReport(path.name, rows, kept, dropped)


def _parse(row: list[str] | None) -> tuple[int, str, float] | str:
    """User, movie and rating; or in words what is wrong with the row."""
    if row is None:
        return "with too few or too many cells"
    try:
        user, rating = int(row[0]), float(row[2])
    except ValueError:
        return "with cells that are not numbers"
    if not LOWEST <= rating <= HIGHEST:  # also what is not a number
        return f"with a rating outside {LOWEST:g} to {HIGHEST:g}"
    return user, row[1].strip(), rating
