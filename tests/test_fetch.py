"""Downloads, from files and from places where there is nothing."""

import hashlib
import zipfile

import pytest

from linkarms.datasets import DATASETS, Dataset, fetch
from linkarms.errors import DownloadError, InvalidInput, LinkarmsError


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A data set called ``test`` in a folder that stands for the network."""

    def make(content=b"a,b\n1,2\n", **changes):
        there = tmp_path / "network.bin"
        there.write_bytes(content)
        spec = {
            "files": ("table.csv",),
            "page": "https://example.org/data",
            "url": there.as_uri(),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        monkeypatch.setitem(DATASETS, "test", Dataset(**(spec | changes)))
        return there

    return make


def test_a_file_is_fetched_once(tmp_path, source):
    there = source()
    folder = tmp_path / "new" / "folder"
    paths = fetch("test", folder, download=True)
    assert [p.read_bytes() for p in paths] == [b"a,b\n1,2\n"]
    assert [p.name for p in folder.iterdir()] == ["table.csv"]  # nothing else is left behind
    there.unlink()
    assert fetch("test", folder, download=True) == paths
    assert fetch("test", folder) == paths


def test_nothing_is_fetched_unasked(tmp_path, source):
    source()
    with pytest.raises(
        DownloadError,
        match=r"table\.csv missing; get table\.csv from https://example\.org/data .*download=True",
    ):
        fetch("test", tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_another_file_is_refused(tmp_path, source):
    source(sha256="0" * 64)
    with pytest.raises(DownloadError, match=r"not the expected file .*https://example\.org/data"):
        fetch("test", tmp_path / "data", download=True)
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x", "file:///no/such/file/anywhere"])
def test_no_network(tmp_path, source, url):
    source(url=url)
    with pytest.raises(
        DownloadError, match=r"cannot be downloaded .*get table\.csv from https://example\.org/data"
    ):
        fetch("test", tmp_path / "data", download=True)


def test_members_of_an_archive(tmp_path, source):
    archive = tmp_path / "made.zip"
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr("inner/one.csv", "1")
        z.writestr("inner/two.csv", "2")
        z.writestr("../evil.txt", "no")
    source(archive.read_bytes(), files=("one.csv", "two.csv"), archive=True, member="inner")
    paths = fetch("test", tmp_path / "data", download=True)
    assert [p.read_text() for p in paths] == ["1", "2"]
    assert sorted(p.name for p in (tmp_path / "data").iterdir()) == ["one.csv", "two.csv"]


def test_what_has_no_checksum_is_not_fetched(tmp_path):
    with pytest.raises(DownloadError, match=r"no checksum of it is published; get user_ratedmovies\.dat"):
        fetch("movielens-hetrec", tmp_path, download=True)


def test_names():
    with pytest.raises(InvalidInput, match="no data set 'tlc'"):
        fetch("tlc", ".")
    assert issubclass(DownloadError, LinkarmsError)
    for data in DATASETS.values():
        assert bool(data.url) == (len(data.sha256) == 64)
        assert data.url.startswith("https://") or not data.url
