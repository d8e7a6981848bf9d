"""The service over HTTP: every operation, and the library's words in every error."""

import io
import json
import subprocess
import sys
import threading
import time

import httpx
import numpy as np
import pytest
from tests.service_process import Service
from tests.service_thread import local_service

import linkarms as la
from linkarms.campaign import LIMITS, Campaign
from linkarms.errors import StorageError
from linkarms.server._served import ServedCampaigns

COFFEE = {
    "name": "coffee",
    "arms": ["ada", "ben", "cy", "dot"],
    "n_clusters": 2,
    "family": "gaussian",
    "stopping": {"name": "paper", "theta": [-10, 10]},
}
TRUTH = {"ada": 0.0, "ben": 0.4, "cy": 5.0, "dot": 5.3}
HERE = "/api/v1/campaigns/coffee"


@pytest.fixture
def service(storage):
    with local_service(storage) as client:
        yield client


@pytest.fixture
def coffee(service):
    assert service.post("/api/v1/campaigns", json=COFFEE).status_code == 201
    return service


@pytest.fixture
def lite(tmp_path):
    """On SQLite alone, for what never gets as far as the database."""
    with local_service(tmp_path / "runs.db") as client:
        yield client


def stored(client):
    """Everything that is in the storage, as text."""
    try:
        names = Campaign.names(client.storage)
    except la.errors.NotFound:
        return ""
    return json.dumps([[e.to_dict() for e in Campaign.open(n, client.storage).history()] for n in names])


def problem(answer, status, words):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert found["status"] == status
    assert set(found) == {"type", "title", "status", "detail"}
    assert words in found["detail"], found["detail"]


def test_a_campaign_from_nothing_to_its_stop(service):
    assert service.get("/api/v1/campaigns").json() == {"campaigns": []}
    made = service.post("/api/v1/campaigns", json=COFFEE)
    assert made.status_code == 201
    rng = np.random.default_rng(0)
    while tickets := service.post(f"{HERE}/ask", json={"n": 8, "worker": "bench"}).json()["tickets"]:
        samples = [{"ticket": t["id"], "value": rng.normal(TRUTH[t["arm"]])} for t in tickets]
        receipts = service.post(f"{HERE}/tell", json={"samples": samples}).json()["receipts"]
        assert [r["ticket"] for r in receipts] == [t["id"] for t in tickets]
    status = service.get(HERE).json()
    assert status["stopped"]
    assert status["clusters"] == [["ada", "ben"], ["cy", "dot"]]
    direct = Campaign.open("coffee", service.storage)
    assert json.loads(json.dumps(direct.result().to_dict(cuts=True))) == service.get(f"{HERE}/result").json()
    assert service.get("/api/v1/campaigns").json()["campaigns"][0]["progress"] == 1.0
    assert direct.doctor().ok
    assert service.post(f"{HERE}/doctor").json()["ok"]


def test_release_retract_add_history_and_export(coffee):
    tickets = coffee.post(f"{HERE}/ask", json={"n": 3, "worker": "w"}).json()["tickets"]
    assert coffee.post(f"{HERE}/release", json={"ticket": tickets[2]["id"]}).status_code == 200
    body = {"samples": [{"arm": "ada", "value": 1.5}], "worker": "note", "key": "page 7"}
    first = coffee.post(f"{HERE}/add", json=body).json()
    assert coffee.post(f"{HERE}/add", json=body).json() == first
    number = first["receipts"][0]["ticket"]
    assert coffee.post(f"{HERE}/retract", json={"ticket": number, "reason": "a slip"}).status_code == 200
    status = coffee.get(HERE).json()
    assert status["tickets"] == {"open": 2, "told": 0, "released": 1, "expired": 0, "retracted": 1}
    assert "retracted" in status["promise"]
    events = coffee.get(f"{HERE}/history", params={"after": 1, "limit": 2}).json()["events"]
    assert [e["kind"] for e in events] == ["ask", "release"]
    csv = coffee.get(f"{HERE}/export")
    assert csv.text == Campaign.open("coffee", coffee.storage).export("csv")
    assert csv.headers["content-disposition"] == 'attachment; filename="coffee.csv"'
    assert len(coffee.get(f"{HERE}/export?format=json").json()) == 4
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(io.BytesIO(coffee.get(f"{HERE}/export?format=parquet").content))
    assert table.num_rows == 4


def test_families_and_rules_in_json(service):
    body = COFFEE | {
        "family": {"name": "gamma", "shape": 2.0},
        "stopping": {"name": "paper", "theta": [0.1, 9]},
    }
    assert service.post("/api/v1/campaigns", json=body).status_code == 201
    campaign = Campaign.open("coffee", service.storage)
    assert campaign.overview().families.families[0] == la.families.Gamma(2.0)
    mixed = [
        {"name": "gaussian", "covariance": 4.0},
        "gaussian",
        {"name": "bounded", "low": 0, "high": 1},
        "gaussian",
    ]
    body = COFFEE | {
        "name": "mixed",
        "family": mixed,
        "n_features": 1,
        "lease": 60,
        "seed": 3,
        "sampling": {"name": "ebc", "step": 0.5},
    }
    made = service.post("/api/v1/campaigns", json=body)
    assert made.status_code == 201, made.text
    assert made.json()["sampling"] == "ebc"
    # null is the sampling rule's own stop, as in the library
    body = COFFEE | {"name": "fixed", "sampling": {"name": "fixed", "size": 3}, "stopping": None}
    made = service.post("/api/v1/campaigns", json=body)
    assert made.status_code == 201, made.text
    assert made.json()["stopping"] == "sample-size"


def test_choices_are_the_library_s_rules(lite):
    found = lite.get("/api/v1/choices").json()
    stopping = {rule["name"]: rule for rule in found["stopping"]}
    assert stopping["paper"]["parameters"] == ["theta", "epsilon", "exact"]
    assert stopping["paper"]["required"] == ["theta"]
    assert {"ebc", "ebc-h", "round-robin"} <= {rule["name"] for rule in found["sampling"]}
    assert "boc" not in stopping  # a baseline
    made = lite.post("/api/v1/campaigns", json=COFFEE).json()
    assert made["sampling"] == found["defaults"]["sampling"]
    nothing_said = {key: COFFEE[key] for key in ("arms", "n_clusters")} | {"name": "short"}
    answer = lite.post("/api/v1/campaigns", json=nothing_said)
    if found["defaults"]["stopping"] is None:
        problem(answer, 422, "stopping is missing")
    else:
        assert answer.json()["stopping"] == found["defaults"]["stopping"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_clusters": 9}, "n_clusters"),
        ({"delta": 1.0}, "delta"),
        ({"family": "geometric"}, "unknown"),
        ({"family": {"name": "gamma", "shape": "x"}}, "family"),
        ({"family": {"name": "gamma", "sort": 2}}, "family"),
        ({"family": {"name": "mine", "custom": True}}, "families of linkarms only"),
        ({"family": {"name": "product", "families": 3}}, "family"),
        ({"stopping": None}, "own stop"),
        ({"stopping": "paper"}, "theta"),
        ({"stopping": {"name": "sometime"}}, "none called 'sometime'"),
        ({"stopping": {"name": "paper"}}, "cannot be understood"),
        ({"stopping": {"name": "paper", "theta": [5, -5]}}, "theta"),
        ({"stopping": {"name": "paper", "theta": {"a": 1}}}, "stopping"),
        ({"name": "<b>"}, "name"),
        ({"name": "../x"}, "name"),
        ({"arms": ["a", "a", "b"]}, "arm"),
        ({"arms": ["a\u0000", "b", "c"]}, "control character"),
        ({"color": "red"}, "color"),
        ({"sampling": "luck"}, "unknown"),
        ({"sampling": {"name": "luck"}}, "none called 'luck'"),
        ({"sampling": {"name": "ebc", "step": -1}}, "step"),
        ({"sampling": {"name": "atboc"}}, "keeps state"),
    ],
)
def test_bad_settings_are_refused_in_words(lite, change, words):
    problem(lite.post("/api/v1/campaigns", json=COFFEE | change), 422, words)
    assert stored(lite) == ""


def test_the_library_s_errors_keep_their_words_and_get_their_status(coffee):
    before = stored(coffee)
    problem(coffee.get("/api/v1/campaigns/tea"), 404, "there is no campaign 'tea'")
    problem(coffee.post("/api/v1/campaigns", json=COFFEE), 409, "there is a campaign 'coffee' already")
    tell = lambda **sample: coffee.post(f"{HERE}/tell", json={"samples": [sample]})  # noqa: E731
    problem(tell(ticket=7, value=1.0), 404, "there is no ticket 7")
    problem(coffee.post(f"{HERE}/ask", json={"n": LIMITS.batch + 1}), 413, "too much at once")
    problem(
        coffee.post(f"{HERE}/add", json={"samples": [{"arm": "eve", "value": 1}]}),
        422,
        "there is no arm 'eve'",
    )
    problem(coffee.post(f"{HERE}/add", json={"samples": [{"arm": "ada", "value": [1, 2]}]}), 422, "ada")
    assert stored(coffee) == before
    (ticket,) = coffee.post(f"{HERE}/ask", json={}).json()["tickets"]
    assert tell(ticket=ticket["id"], value=0.5).status_code == 200
    assert tell(ticket=ticket["id"], value=0.5).json()["receipts"][0]["number"] == 1
    problem(tell(ticket=ticket["id"], value=0.75), 409, "was told with another value, 0.5")
    assert coffee.get(HERE).json()["samples"] == 1


RAW = {
    "NaN": b'{"samples": [{"arm": "ada", "value": NaN}]}',
    "Infinity": b'{"samples": [{"arm": "ada", "value": -Infinity}]}',
    "overflow": b'{"samples": [{"arm": "ada", "value": 1e999}]}',
    "long integer": b'{"samples": [{"arm": "ada", "value": 1' + b"0" * 400 + b"}]}",
    "longer integer": b'{"samples": [{"arm": "ada", "value": 1' + b"0" * 9000 + b"}]}",
    "boolean": b'{"samples": [{"arm": "ada", "value": true}]}',
    "text": b'{"samples": [{"arm": "ada", "value": "1"}]}',
    "nothing": b'{"samples": []}',
    "empty vector": b'{"samples": [{"arm": "ada", "value": []}]}',
    "deep": b"[" * 100_000,
    "no JSON": b"samples=1",
    "no UTF-8": b'{"samples": [{"arm": "\xff", "value": 1}]}',
    "empty": b"",
    "surrogate": b'{"samples": [{"arm": "\\ud800", "value": 1}]}',
    "unknown field": b'{"samples": [{"arm": "ada", "value": 1}], "force": true}',
}


@pytest.mark.parametrize("body", RAW.values(), ids=RAW)
def test_what_is_no_sample_is_refused_and_nothing_is_stored(lite, body):
    lite.post("/api/v1/campaigns", json=COFFEE)
    before = stored(lite)
    assert "create" in before
    answer = lite.post(f"{HERE}/add", content=body, headers={"content-type": "application/json"})
    problem(answer, 422, "")
    assert stored(lite) == before


def test_not_finite_settings_are_refused(lite):
    body = json.dumps(COFFEE).replace("-10", "-Infinity")
    answer = lite.post("/api/v1/campaigns", content=body, headers={"content-type": "application/json"})
    problem(answer, 422, "finite")
    # a form of another site cannot send JSON as such
    answer = lite.post(
        "/api/v1/campaigns", content=json.dumps(COFFEE), headers={"content-type": "text/plain"}
    )
    problem(answer, 422, "")
    assert stored(lite) == ""


def test_unknown_addresses_and_methods_are_problems_too(lite):
    problem(lite.get("/api/v1/nowhere"), 404, "nothing at this address")
    problem(lite.put("/api/v1/campaigns"), 405, "")
    problem(lite.get("/static/../_app.py"), 404, "")
    problem(lite.get("/static/%2e%2e/_app.py"), 404, "")
    problem(lite.get("/static/..%2f_app.py"), 404, "")
    problem(lite.get("/api/v1/campaigns/..%2f..%2fetc%2fpasswd"), 404, "")


def test_health_metrics_schema_and_page(coffee):
    assert coffee.get("/healthz").text == "ok\n"
    coffee.get("/api/v1/campaigns/made-up-name")
    text = coffee.get("/metrics").text
    assert 'linkarms_requests_total{route="/api/v1/campaigns",method="POST",status="201"} 1' in text
    assert "linkarms_campaigns 1" in text
    assert "made-up-name" not in text
    for line in text.splitlines():
        assert line.startswith("#") or float(line.rpartition(" ")[2]) >= 0
    schema = coffee.get("/openapi.json").json()
    assert schema["info"]["version"] == la.__version__
    assert "HTTPValidationError" not in json.dumps(schema)
    assert schema["components"]["schemas"]["Create"]["example"] == COFFEE | {"delta": 0.05}
    page = coffee.get("/")
    assert '<script type="module" src="/static/app.js">' in page.text
    assert page.text.count("<script") == 1
    assert coffee.get("/static/app.js").headers["cache-control"] == "no-cache"


def test_a_storage_that_is_away_is_a_503(tmp_path):
    path = tmp_path / "runs.db"
    path.write_bytes(b"this is no database, whatever its name says" * 100)
    with local_service(path) as client:
        problem(client.get("/api/v1/campaigns"), 503, "not a database")
        health = client.get("/healthz")
        problem(health, 503, "the storage cannot be read")
        assert str(path) not in health.text  # everybody may ask


def test_health_is_remembered_for_a_second_and_a_storage_that_fails_is_noticed(tmp_path, monkeypatch):
    looks, fails = [], threading.Event()
    names = ServedCampaigns.names

    def look(this):
        looks.append(time.monotonic())
        if fails.is_set():
            raise StorageError("the disk is gone")
        return names(this)

    monkeypatch.setattr(ServedCampaigns, "names", look)
    with local_service(tmp_path / "runs.db") as client:
        assert {client.get("/healthz").status_code for _ in range(20)} == {200}
        assert len(looks) <= 1 + (looks[-1] - looks[0])
        fails.set()
        began = time.monotonic()
        while client.get("/healthz").status_code == 200:
            assert time.monotonic() - began < 10
            time.sleep(0.05)
        problem(client.get("/healthz"), 503, "the storage cannot be read")
        fails.clear()
        assert client.get("/healthz").status_code == 200


def test_what_nobody_thought_of_is_a_problem_too(lite, monkeypatch):
    def broken(*_):
        raise RuntimeError("secret")

    assert lite.post("/api/v1/campaigns", json=COFFEE).status_code == 201
    monkeypatch.setattr("linkarms.server._served.view_of", broken)
    answer = lite.get(f"{HERE}/view")
    problem(answer, 500, "the log of the service")
    assert "secret" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert 'view",method="GET",status="500"} 1' in lite.get("/metrics").text


def test_a_service_on_sqlite_loads_neither_psycopg_nor_pyarrow(tmp_path):
    """They are extras of their own: `postgresql`, and `data` for tables in Parquet."""
    program = """
import sys
from fastapi.testclient import TestClient
from linkarms.server import create_app
for name in ("psycopg", "pyarrow"):
    sys.modules[name] = None  # as if it were not installed
with TestClient(create_app(sys.argv[1]), base_url="http://localhost") as client:
    made = {"name": "tea", "arms": ["ada", "ben", "cy"], "n_clusters": 2}
    assert client.post("/api/v1/campaigns", json=made).status_code == 201
    for path in ("", "/result", "/view", "/history", "/export?format=csv"):
        assert client.get("/api/v1/campaigns/tea" + path).status_code == 200, path
    answer = client.get("/api/v1/campaigns/tea/export?format=parquet")
    assert (answer.status_code, "linkarms[data]" in answer.json()["detail"]) == (503, True), answer.text
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "runs.db")], check=True, timeout=120)


def test_two_services_on_one_database(coffee):
    """What comes in through one is seen by those who watch the other, which is another process; it stops with a stream open."""
    with Service(coffee.storage) as service:
        seen = []

        def watch():
            with httpx.stream(
                "GET", f"{service.url}/api/v1/events?campaign=coffee", timeout=90, verify=False
            ) as stream:
                for line in stream.iter_lines():
                    if line.startswith("data:"):
                        seen.append(json.loads(line[5:]))

        watcher = threading.Thread(target=watch)
        watcher.start()
        end = time.monotonic() + 60
        while {"coffee": 1} not in seen and time.monotonic() < end:
            time.sleep(0.05)
        assert coffee.post(f"{HERE}/add", json={"samples": [{"arm": "ada", "value": 1}]}).status_code == 200
        while {"coffee": 2} not in seen and time.monotonic() < end:
            time.sleep(0.05)
        assert seen[-1] == {"coffee": 2}
        assert httpx.get(f"{service.url}{HERE}", timeout=120, verify=False).json()["samples"] == 1
        assert service.stop() == 0  # within its patience, and with the stream open
        watcher.join(30)
        assert not watcher.is_alive()
