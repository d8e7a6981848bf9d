"""`linkarms.sklearn.BanditClustering`: scikit-learn's own checks, and what they do not cover."""

import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import linkarms as la
from linkarms.errors import InvalidInput
from linkarms.sklearn import BanditClustering

LEVELS = {"s1": 1.0, "s2": 9.0, "s3": 1.2, "s4": 5.0, "s5": 9.3}
PARTITION = [0, 1, 0, 2, 1]


#: Checks of scikit-learn that may fail, each with its reason. None does.
EXPECTED_FAILURES: dict[str, str] = {}


@parametrize_with_checks(
    [BanditClustering(), BanditClustering(n_clusters=3, delta=0.1, sampling="round-robin")],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
@pytest.mark.filterwarnings("ignore:Skipping check:sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(estimator, check, monkeypatch):
    monkeypatch.setenv(
        "SCIPY_ARRAY_API", "1"
    )  # scikit-learn leaves out its checks of array API input otherwise
    check(estimator)


@pytest.fixture
def readings():
    """Long form: readings of five sensors, in random order."""
    rng = np.random.default_rng(0)
    sensor = rng.permutation(np.repeat(list(LEVELS), 400))
    return rng.normal([LEVELS[s] for s in sensor])[:, None], sensor


def test_long_form(readings):
    X, sensor = readings
    model = BanditClustering(n_clusters=3, random_state=0).fit(X, groups=sensor)
    assert model.stopped_
    assert model.arms_.tolist() == list(LEVELS)
    assert model.arm_labels_.tolist() == PARTITION
    assert model.labels_.tolist() == [PARTITION[list(LEVELS).index(s)] for s in sensor]
    assert model.n_samples_used_ == model.result_.samples < 500
    assert model.result_.clusters == [["s1", "s3"], ["s2", "s5"], ["s4"]]
    assert not hasattr(model, "predict")


def test_same_answer_as_cluster(readings):
    X, sensor = readings
    model = BanditClustering(3, family="gaussian", delta=0.01, random_state=np.random.RandomState(5))
    model.fit(X, groups=sensor)
    seed = int(np.random.RandomState(5).randint(np.iinfo(np.int32).max))
    data = {name: X[sensor == name] for name in LEVELS}
    direct = la.cluster(data, 3, family="gaussian", delta=0.01, seed=seed, replace=False)
    assert model.result_.to_dict() == direct.to_dict()


def test_a_distance_threshold_in_place_of_the_number_of_clusters(readings):
    X, sensor = readings
    model = BanditClustering(n_clusters=None, distance_threshold=2.0, random_state=0).fit(X, groups=sensor)
    assert model.stopped_
    assert model.arm_labels_.tolist() == PARTITION
    with pytest.raises(InvalidInput):
        BanditClustering(n_clusters=2, distance_threshold=2.0).fit(X, groups=sensor)


def test_random_state(readings):
    X, sensor = readings

    def pulls(state):
        return BanditClustering(3, random_state=state).fit(X, groups=sensor).result_.pulls.tolist()

    assert pulls(4) == pulls(4)
    assert len({tuple(pulls(state)) for state in range(5)}) > 1


def test_estimators_are_sent_to_workers_and_fitted_ones_are_pickled():
    rows = np.random.default_rng(1).normal(np.array([[0.0], [0.1], [9.0]]), 1.0, (3, 40))
    fit = BanditClustering(n_clusters=2).fit(rows)
    there = joblib.Parallel(2)(joblib.delayed(clone(fit).fit)(rows) for _ in range(2))
    for other in (*there, pickle.loads(pickle.dumps(fit))):
        assert other.labels_.tolist() == fit.labels_.tolist() == [0, 0, 1]


def test_frames_pipelines_and_clones(readings):
    X, sensor = readings
    frame = pd.DataFrame({"reading": X[:, 0], "sensor": sensor})
    model = BanditClustering(n_clusters=3, delta=0.1, random_state=1)
    pipeline = make_pipeline(StandardScaler(), FunctionTransformer(np.negative), model)
    pipeline.fit(frame[["reading"]], banditclustering__groups=frame["sensor"])
    assert pipeline[-1].arm_labels_.tolist() == PARTITION
    again = clone(pipeline).set_params(banditclustering__delta=0.01)
    labels = again.fit_predict(frame[["reading"]], banditclustering__groups=frame["sensor"])
    assert again[-1].delta == 0.01
    assert model.delta == 0.1
    assert again[-1].n_samples_used_ > pipeline[-1].n_samples_used_
    assert np.array_equal(labels, again[-1].labels_)
    assert "BanditClustering" in pipeline._repr_html_()
    assert "delta" in pipeline._repr_html_()
    assert model.fit(frame[["reading"]], groups=sensor).feature_names_in_.tolist() == ["reading"]


def test_metadata_routing(readings):
    import sklearn

    X, sensor = readings
    with sklearn.config_context(enable_metadata_routing=True):
        model = BanditClustering(n_clusters=3, random_state=1).set_fit_request(groups=True)
        pipeline = make_pipeline(StandardScaler(), model).fit(X, groups=sensor)
    assert pipeline[-1].arm_labels_.tolist() == PARTITION


def test_rows_as_arms_are_clustered_by_single_linkage():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2)) + 6 * rng.integers(0, 2, size=(40, 1))
    model = BanditClustering(n_clusters=4).fit(X)
    expected = AgglomerativeClustering(n_clusters=4, linkage="single").fit_predict(X)
    assert adjusted_rand_score(model.labels_, expected) == 1.0
    assert not model.stopped_
    assert model.n_samples_used_ == 40
    certain = BanditClustering(n_clusters=2, family="gaussian:0.001").fit([[0.0], [0.1], [9.0], [9.1]])
    assert certain.stopped_
    assert certain.labels_.tolist() == [0, 0, 1, 1]


def test_an_arm_without_enough_rows_gives_a_warning_and_no_promise(readings):
    X, sensor = readings
    few = [i for name in LEVELS for i in np.flatnonzero(sensor == name)[:3]]
    with pytest.warns(ConvergenceWarning, match="no promise"):
        model = BanditClustering(3, random_state=0).fit(X[few], groups=sensor[few])
    assert not model.stopped_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(replace=True).fit(X, groups=sensor)
    assert model.stopped_


def test_bad_input(readings):
    X, sensor = readings
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        BanditClustering().fit(X, groups=sensor[:-1])
    with pytest.raises(InvalidInput, match="2 rows have no arm, the first is row 1"):
        BanditClustering().fit([[1.0], [2.0], [3.0]], groups=["a", None, float("nan")])
    with pytest.raises(InvalidInput, match="groups mixes kinds of names"):
        BanditClustering().fit([[1.0], [2.0]], groups=np.array(["a", 3], dtype=object))
    with pytest.raises(InvalidInput, match="replace=True draws from the rows of each arm"):
        BanditClustering(replace=True).fit(X)
    with pytest.raises(InvalidInput, match="9"):
        BanditClustering(n_clusters=9).fit(X, groups=sensor)
    with pytest.raises(InvalidInput, match="records of arm 's2' are all equal"):
        BanditClustering().fit(np.where(sensor[:, None] == "s2", 0.1, X), groups=sensor)
