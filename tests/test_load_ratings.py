"""MovieLens in both layouts, with what is wrong in them."""

import pytest

from linkarms.datasets import load_ratings
from linkarms.errors import InvalidInput

HETREC_HEAD = "userID\tmovieID\trating\tdate_day\tdate_month\tdate_year\tdate_hour\tdate_minute\tdate_second"
#: Comedy, Drama, both, neither.
GENRES = [(1, "Comedy"), (2, "Drama"), (3, "Comedy"), (3, "Drama"), (4, "War"), (5, "Comedy")]


def write_hetrec(folder, rows, genres=GENRES, encoding="latin-1"):
    text = (
        "\n".join([HETREC_HEAD, *("\t".join(map(str, r)) + "\t29\t10\t2006\t23\t17\t16" for r in rows)])
        + "\n"
    )
    (folder / "user_ratedmovies.dat").write_bytes(text.encode(encoding))
    lines = ["movieID\tgenre", *(f"{m}\t{g}" for m, g in genres)]
    (folder / "movie_genres.dat").write_bytes(("\n".join(lines) + "\n").encode(encoding))
    return folder


def write_csv(folder, rows, encoding="utf-8", title="Amélie, the film (2001)"):
    lines = ["userId,movieId,rating,timestamp", *(",".join(map(str, r)) + ",964982703" for r in rows)]
    (folder / "ratings.csv").write_bytes(("\r\n".join(lines) + "\r\n").encode(encoding))
    movies = [
        "movieId,title,genres",
        f'1,"{title}",Comedy|Romance',
        "2,Heat (1995),Drama",
        '3,"""Both"", said he",Comedy|Drama',
        "4,Odd (1999),(no genres listed)",
        "5,Fun,Comedy",
    ]
    (folder / "movies.csv").write_bytes(("\r\n".join(movies) + "\r\n").encode(encoding))
    return folder


ROWS = [(75, 1, 4.5), (75, 2, 1), (78, 3, 3), (75, 3, 2.5), (80, 1, 5), (75, 4, 5), (75, 5, 0.5)]


@pytest.mark.parametrize("write", [write_hetrec, write_csv])
def test_ratings_by_user_and_genre(tmp_path, write):
    found = load_ratings(write(tmp_path, ROWS))
    assert list(found.users) == [75, 78]  # 80 has rated no drama
    assert [x.tolist() for x in found.users[75]] == [[4.5, 2.5, 0.5], [1.0, 2.5]]
    assert [x.tolist() for x in found.users[78]] == [[3.0], [3.0]]
    assert (found.report.rows, found.report.kept, dict(found.report.dropped)) == (
        7,
        6,
        {"of other genres": 1},
    )
    assert found.genres == ("Comedy", "Drama")


@pytest.mark.parametrize("write", [write_hetrec, write_csv])
def test_broken_rows_are_counted(tmp_path, write):
    bad = [
        (75, 1, 3),  # again
        (75, 99, 3),
        ("x", 1, 3),
        (76, 1, "good"),
        (76, 1, 5.5),
        (76, 1, 0),
        (76, 1, "nan"),
        (76, 1),
        (76, 1, 3, 7),
    ]
    found = load_ratings(write(tmp_path, ROWS + bad))
    assert list(found.users) == [75, 78]
    assert [x.tolist() for x in found.users[75]] == [[4.5, 2.5, 0.5], [1.0, 2.5]]
    assert (found.report.rows, found.report.kept) == (16, 6)
    assert dict(found.report.dropped) == {
        "of other genres": 1,
        "for the second time": 1,
        "of movies without a genre": 1,
        "with cells that are not numbers": 2,
        "with a rating outside 0.5 to 5": 3,
        "with too few or too many cells": 2,
    }


def test_latin_1_is_read_as_such(tmp_path):
    genres = [*GENRES, (6, "Comedia española")]
    found = load_ratings(
        write_hetrec(tmp_path, [*ROWS, (75, 6, 2)], genres), genres=("Drama", "Comedia española")
    )
    assert [x.tolist() for x in found.users[75]] == [[1.0, 2.5], [2.0]]


@pytest.mark.parametrize("write", [write_hetrec, write_csv])
def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path, write):
    assert list(load_ratings(write(tmp_path, ROWS, encoding="utf-8-sig")).users) == [75, 78]


@pytest.mark.parametrize("write", [write_hetrec, write_csv])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_utf_16_is_refused(tmp_path, write, encoding):
    with pytest.raises(InvalidInput, match="UTF-16"):
        load_ratings(write(tmp_path, ROWS, encoding=encoding))


def test_another_encoding_is_refused_with_its_place(tmp_path):
    with pytest.raises(InvalidInput, match=r"movies\.csv: not utf-8 text after line \d+ .*save it as utf-8"):
        load_ratings(write_csv(tmp_path, ROWS, encoding="latin-1"))


def test_missing_files_and_columns(tmp_path):
    with pytest.raises(
        InvalidInput, match=r"it needs user_ratedmovies\.dat and movie_genres\.dat, or ratings\.csv"
    ):
        load_ratings(tmp_path)
    with pytest.raises(InvalidInput, match="no such folder"):
        load_ratings(tmp_path / "gone")
    write_csv(tmp_path, ROWS)
    path = tmp_path / "ratings.csv"
    path.write_text(path.read_text().replace("movieId", "film"))
    with pytest.raises(InvalidInput, match="no column 'movieId'; the columns are 'userId', 'film'"):
        load_ratings(tmp_path)
    path.write_text("")
    with pytest.raises(InvalidInput, match="no column 'userId' or 'movieId' or 'rating'"):
        load_ratings(tmp_path)


def test_hetrec_with_commas_is_refused(tmp_path):
    write_hetrec(tmp_path, ROWS)
    path = tmp_path / "user_ratedmovies.dat"
    path.write_text(path.read_text().replace("\t", ","))
    with pytest.raises(InvalidInput, match="no column 'userID'"):
        load_ratings(tmp_path)


def test_genres(tmp_path):
    write_hetrec(tmp_path, ROWS)
    with pytest.raises(InvalidInput, match="no genre 'Noir'; there are Comedy, Drama, War"):
        load_ratings(tmp_path, genres=("Comedy", "Noir"))
    for genres in ("Comedy", (), ("Drama", "Drama")):
        with pytest.raises(InvalidInput, match="is not a list of genres"):
            load_ratings(tmp_path, genres=genres)
    with pytest.raises(InvalidInput, match="no user has rated movies of War and Drama"):
        load_ratings(write_hetrec(tmp_path, ROWS[1:5]), genres=("War", "Drama"))
