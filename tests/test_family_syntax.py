"""Families as text: one syntax for Python, the command line, JSON and HTTP, and the same words where it is broken."""

import json

import pytest
from tests.cli_words import cluster
from tests.service_thread import local_service

import linkarms as la
from linkarms import families as f
from linkarms.campaign import Campaign
from linkarms.cli._app import run

WORDS = {
    "gaussian": f.Gaussian(),
    "gaussian:4": f.Gaussian(4.0),
    "gaussian-unknown": f.UnknownVariance(),
    "gaussian-unknown:shared": f.UnknownVariance(shared=True),
    "bounded:0:100": f.bounded(0, 100),
    "bounded:-1:3": f.bounded(-1, 3),
    "exponential": f.Exponential(),
    "exponential:rate": f.Exponential(),
    "exponential:mean": f.Exponential("mean"),
    "gamma:2": f.Gamma(2.0),
    "gamma:2.5:mean": f.Gamma(2.5, "mean"),
    "bernoulli": f.Bernoulli(),
    "poisson": f.Poisson(),
    "categorical:3": f.Categorical(3),
    "gaussian:2, poisson": f.Product([f.Gaussian(2.0), f.Poisson()]),
}
BAD = {
    "cauchy": "family='cauchy' is unknown; choose gaussian-unknown[:SHAPE], gaussian[:VARIANCE],",
    "": "family='' is unknown",
    "Gaussian": "family='Gaussian' is unknown",
    "gaussian:": "family='gaussian:': '' is not a number; write gaussian (variance 1) or gaussian:VARIANCE",
    "gaussian:-4": "family='gaussian:-4': covariance has the variance -4; variances must be positive",
    "gaussian:inf": "family='gaussian:inf': 'inf' is not a number; write gaussian",
    "gaussian:1:2": "family='gaussian:1:2': too many words; write gaussian",
    "gaussian-unknown:each": (
        "family='gaussian-unknown:each': 'each' is neither 'isotropic', 'coordinate', 'full' nor 'shared'; "
        "write gaussian-unknown, or"
    ),
    "bounded:5": "family='bounded:5': too few words; write bounded:LOW:HIGH",
    "bounded:5:1": "family='bounded:5:1': ",
    "gamma": "family='gamma': too few words; write gamma:SHAPE (by the rate) or gamma:SHAPE:mean",
    "gamma:0": "family='gamma:0': shape=0 is out of range",
    "gamma:2:scale": "family='gamma:2:scale': 'scale' is neither 'rate' nor 'mean'; write gamma:SHAPE",
    "categorical:three": "family='categorical:three': 'three' is not a whole number; write categorical:CATEGORIES",
    "categorical:1": "family='categorical:1': n_categories=1 is out of range",
    "poisson,,poisson": "family='' is unknown",
    "poisson,gaussian-unknown": "family='poisson,gaussian-unknown': coordinate 1 of a product is gaussian-unknown",
    "poisson,categorical": "family='categorical': the number of categories is missing",
}


def features(family):
    return family.n_features or 1


def same(one, other):
    return type(one) is type(other) and one.to_dict() == other.to_dict()


@pytest.mark.parametrize("word", WORDS)
def test_each_word_is_its_family(word):
    want = WORDS[word]
    assert same(f.parse(word), want)
    assert same(f.resolve(word, 3, features(want)).families[0], want)


@pytest.mark.parametrize("word", WORDS)
def test_each_word_survives_storage(word):
    """Text in, plain JSON out, and the same family again."""
    stored = json.dumps(f.parse(word).to_dict())
    assert same(f.from_dict(json.loads(stored)), WORDS[word])


def test_categories_are_counted_where_no_number_is_given():
    assert same(f.parse("categorical", 4), f.Categorical(4))
    assert same(f.resolve("categorical", 2, 3).families[1], f.Categorical(3))


def test_a_list_has_one_word_per_arm():
    words = ["gaussian:4", f.Gaussian(2.0), "bounded:0:1"]
    found = f.resolve(words, 3, 1).families
    assert [x.to_dict() for x in found] == [
        x.to_dict() for x in (f.Gaussian(4.0), f.Gaussian(2.0), f.bounded(0, 1))
    ]


def test_psi_and_problems_take_words():
    by_word = la.psi([1, 1, 1], [0.0, 1.0, 5.0], n_clusters=2, family="gaussian:4").value
    assert by_word == la.psi([1, 1, 1], [0.0, 1.0, 5.0], n_clusters=2, family=f.Gaussian(4.0)).value
    assert la.Problem([1.0, 2.0, 9.0], 2, "gamma:2:mean").families[0].shape == 2.0


def test_every_form_is_in_the_list():
    assert {word.split("[")[0].split(":")[0] for word in f.SYNTAX.replace(" or ", ", ").split(", ")} == {
        word.split(":")[0] for word in WORDS if "," not in word
    }


@pytest.mark.parametrize("command", [["cluster"], ["campaign", "create"]])
def test_help_lists_the_words(command, capsys):
    assert run([*command, "--help"]) == 0
    # lines are also broken after hyphens
    shown = " ".join(capsys.readouterr().out.replace("\u2502", " ").split()).replace("- ", "-")
    assert f"{f.SYNTAX}; with commas, one per column. Default: gaussian-unknown," in shown


@pytest.mark.parametrize("word", BAD)
def test_a_bad_word_has_one_message_everywhere(word, few_samples, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(la.errors.InvalidInput) as caught:
        la.cluster({"a": [0.0, 1.0], "b": [2.0, 3.0], "c": [9.0, 9.5]}, 2, family=word)
    text = str(caught.value)
    assert BAD[word] in text
    assert "\n" not in text
    shown = f"linkarms: {text.replace('family=', '--family ', 1)}\n"  # the command line names its option
    assert run(cluster(few_samples, "--family", word)) == 2
    assert capsys.readouterr().err == shown
    assert run(["campaign", "create", "lab", "--arms", "a,b,c", "-k", "2", "--family", word]) == 2
    assert capsys.readouterr().err == shown
    problem = tmp_path / "problem.json"
    problem.write_text(json.dumps({"parameters": [0, 1, 9], "n_clusters": 2, "family": word}))
    assert run(["bound", str(problem)]) == 2
    assert capsys.readouterr().err == f"linkarms: {problem}: {text}\n"


def test_http_takes_the_words_and_gives_the_same_messages(tmp_path):
    body = {"name": "lab", "arms": ["a", "b", "c"], "n_clusters": 2}
    with local_service(str(tmp_path / "runs.db")) as service:
        for i, word in enumerate(["gaussian:4", "gaussian-unknown:shared", "bounded:0:100"]):
            request = body | {"name": f"lab{i}", "family": word}
            assert service.post("/api/v1/campaigns", json=request).status_code == 201
            with Campaign.open(f"lab{i}", service.storage) as campaign:
                assert same(campaign.overview().families.families[0], WORDS[word])
        for word in BAD:
            with pytest.raises(la.errors.InvalidInput) as caught:
                la.BanditClusterer(2, 3, family=word)
            answer = service.post("/api/v1/campaigns", json=body | {"family": word})
            assert (answer.status_code, answer.json()["detail"]) == (422, str(caught.value))


def test_a_long_text_is_not_repeated_in_full():
    with pytest.raises(la.errors.InvalidInput) as caught:
        f.parse("x" * 10_000)
    assert len(str(caught.value)) < 400


def test_a_number_is_not_a_family():
    for family in (3, [3, "gaussian", "gaussian"], ["gaussian", None, "gaussian"]):
        with pytest.raises(la.errors.InvalidInput, match="is not a family; choose gaussian-unknown"):
            la.Problem([0.0, 1.0, 5.0], 2, family)
