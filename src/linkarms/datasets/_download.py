"""Public data sets: where they are, and how to fetch one when the user asks for it."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from linkarms._progress import Progress
from linkarms.errors import DownloadError, InvalidInput

__all__ = ["DATASETS", "Dataset", "fetch"]

_CHUNK = 1 << 16
_SECONDS = 30.0
_LARGEST = 1 << 30  # of a file inside an archive


@dataclass(frozen=True)
class Dataset:
    """One file to download.

    Attributes
    ----------
    files : tuple of str
        What it brings into the folder: the file itself, or members of the archive.
    page : str
        Where a person finds it.
    url, sha256 : str
        The file and its checksum; empty where no checksum is known, and then it is not downloaded.
    member : str
        The folder inside the archive; empty for a plain file.

    Examples
    --------
    >>> from linkarms.datasets import DATASETS
    >>> DATASETS["tlc-zones"].files
    ('taxi_zone_lookup.csv',)
    """

    files: tuple[str, ...]
    page: str
    url: str = ""
    sha256: str = ""
    archive: bool = False
    member: str = ""


_TLC = "https://www.nyc.gov/site/tlc/about/tlc-trip-record-data.page"
_CDN = "https://d37ci6vzurychx.cloudfront.net"
#: Data sets by name. TLC files are replaced now and then: the checksums are those of the files behind the documented results.
DATASETS: dict[str, Dataset] = {
    "tlc-green-2025-01": Dataset(
        ("green_tripdata_2025-01.parquet",),
        _TLC,
        f"{_CDN}/trip-data/green_tripdata_2025-01.parquet",
        "84f3a121667157efcbf012c3566a6065df6f8e0312c678cb2f29cd72cc9c0f10",
    ),
    "tlc-zones": Dataset(
        ("taxi_zone_lookup.csv",),
        _TLC,
        f"{_CDN}/misc/taxi_zone_lookup.csv",
        "1a99e105092230f8620f301edcca7f80d3080642ff404d28ed957d3fa222c8ed",
    ),
    "movielens-latest-small": Dataset(
        ("ratings.csv", "movies.csv"),
        "https://grouplens.org/datasets/movielens/latest/",
        "https://files.grouplens.org/datasets/movielens/ml-latest-small.zip",
        "696d65a3dfceac7c45750ad32df2c259311949efec81f0f144fdfb91ebc9e436",
        archive=True,
        member="ml-latest-small",
    ),
    "movielens-hetrec": Dataset(
        ("user_ratedmovies.dat", "movie_genres.dat"), "https://grouplens.org/datasets/hetrec-2011/"
    ),
}


def fetch(name: str, folder: str | Path, *, download: bool = False, progress: bool = False) -> list[Path]:
    """Return the files of a data set in ``folder``; download them only if they are missing and ``download`` is true.

    Parameters
    ----------
    name : str
        A key of `DATASETS`.
    folder : str or Path
        Where the files are, or where to put them.
    download : bool, default False
        Fetch what is missing, and compare its checksum.
    progress : bool, default False
        Show progress on stderr.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    linkarms.errors.DownloadError
        A file is missing and was not asked for, cannot be had, or is not the one that was expected. The message says where to get it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from linkarms.datasets import fetch
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "taxi_zone_lookup.csv").write_text("LocationID,Borough,Zone")
    >>> [path.name for path in fetch("tlc-zones", folder)]
    ['taxi_zone_lookup.csv']
    """
    if name not in DATASETS:
        raise InvalidInput(f"there is no data set {name!r}; choose one of {', '.join(DATASETS)}")
    data, folder = DATASETS[name], Path(folder)
    paths = [folder / file for file in data.files]
    missing = [path.name for path in paths if not path.is_file()]
    if not missing:
        return paths
    by_hand = f"get {' and '.join(data.files)} from {data.page} and put them into {folder}"
    if not download:
        also = ", or ask for the download (download=True)" if data.url else ""
        raise DownloadError(f"{folder}: {' and '.join(missing)} missing; {by_hand}{also}")
    if not data.url:
        raise DownloadError(f"{name} is not downloaded, as no checksum of it is published; {by_hand}")
    import tempfile

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as scratch:
        got = Path(scratch) / "file"
        digest = _download(data.url, got, by_hand, progress)
        if digest != data.sha256:
            raise DownloadError(
                f"{data.url} is not the expected file (SHA-256 {digest[:12]}..., expected {data.sha256[:12]}...): damaged on the way, "
                f"or a newer version; {by_hand}"
            )
        if data.archive:
            _unpack(got, data, Path(scratch))
        else:
            got.rename(got.with_name(data.files[0]))
        for path in paths:
            os.replace(Path(scratch) / path.name, path)
    return paths


def _download(url: str, target: Path, by_hand: str, progress: bool) -> str:
    """Write the file; return its SHA-256."""
    import urllib.error
    import urllib.request

    digest, done = hashlib.sha256(), 0
    try:
        with (
            urllib.request.urlopen(url, timeout=_SECONDS) as answer,
            target.open("wb") as file,
            Progress("downloading", enabled=progress) as bar,
        ):
            size = int(answer.headers.get("Content-Length") or 0)
            while block := answer.read(_CHUNK):
                file.write(block)
                digest.update(block)
                done += len(block)
                bar.update(done / size if size else 0.0, f"{done / 1e6:.1f} MB of {url}")
    except (urllib.error.URLError, OSError, ValueError) as error:
        why = " ".join(str(getattr(error, "reason", error)).split())
        raise DownloadError(f"{url} cannot be downloaded ({why}); {by_hand}") from error
    return digest.hexdigest()


def _unpack(archive: Path, data: Dataset, folder: Path) -> None:
    import zipfile

    with zipfile.ZipFile(archive) as zipped:
        for name in data.files:
            # by its own name, never by a path of the archive: nothing is written outside the folder
            info = zipped.getinfo(f"{data.member}/{name}" if data.member else name)
            if info.file_size > _LARGEST:
                raise DownloadError(
                    f"{name} in the archive would have {info.file_size:,} bytes; it is not unpacked"
                )
            (folder / name).write_bytes(zipped.read(info))
