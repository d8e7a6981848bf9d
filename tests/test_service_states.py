"""What readers get while a newer state is being computed, and who waits for whom."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from tests.service_thread import local_service
from tests.test_service import COFFEE, HERE, problem

from linkarms.campaign import Campaign
from linkarms.server._served import _Watched


@pytest.fixture
def coffee(storage):
    with local_service(storage) as client:
        assert client.post("/api/v1/campaigns", json=COFFEE).status_code == 201
        yield client


class Stalled:
    """A method that takes as long as somebody wants, and counts its calls."""

    def __init__(self, monkeypatch, owner, name):
        self.go_on, self.calls, method = threading.Event(), 0, getattr(owner, name)
        self.go_on.set()

        def stalled(this, *args, **kwargs):
            if False not in args:  # that is a look at what is known, which waits for nothing
                self.calls += 1
                assert self.go_on.wait(60)
            return method(this, *args, **kwargs)

        monkeypatch.setattr(owner, name, stalled)


def add(client, value, name="coffee"):
    body = {"samples": [{"arm": arm, "value": value + 3 * i} for i, arm in enumerate(COFFEE["arms"])]}
    answer = client.post(f"/api/v1/campaigns/{name}/add", json=body)
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    ("path", "made"), [("", "_make_state"), ("/result", "_make_state"), ("/view", "_make_view")]
)
def test_the_last_state_is_sent_with_its_age_while_a_newer_one_is_computed(coffee, monkeypatch, path, made):
    def samples(answer):
        found = answer.json()
        return found["status"]["samples"] if "status" in found else found["samples"]

    stalled = Stalled(monkeypatch, _Watched, made)
    add(coffee, 1.0)
    first = coffee.get(HERE + path)
    assert "age" not in first.headers
    assert first.headers["linkarms-version"] == "2"
    assert samples(first) == 4
    stalled.go_on.clear()
    add(coffee, 2.0)  # a tell does not wait for whoever computes what readers see
    time.sleep(1.1)
    for wait in (0, 0.2):
        began = time.perf_counter()
        late = coffee.get(HERE + path, params={"wait": wait})
        assert time.perf_counter() - began < wait + 2.5
        assert samples(late) == 4
        assert 1 <= int(late.headers["age"]) <= 20
        assert late.headers["linkarms-version"] == "3"
    assert coffee.get("/healthz").status_code == 200
    threading.Timer(0.5, stalled.go_on.set).start()
    new = coffee.get(HERE + path, params={"wait": 30})
    assert "age" not in new.headers
    assert new.headers["linkarms-version"] == "3"
    assert samples(new) == 8
    assert coffee.get(HERE + path).content == new.content


def test_tickets_are_those_of_now_while_samples_wait_to_be_counted(coffee, monkeypatch):
    stalled = Stalled(monkeypatch, _Watched, "_make_state")
    stalled.go_on.clear()  # from the beginning: nothing was ever computed
    add(coffee, 1.0)
    coffee.post(f"{HERE}/ask", json={"n": 2})
    found = coffee.get(HERE, params={"wait": 0}).json()
    assert found["tickets"] == {"open": 2, "told": 4, "released": 0, "expired": 0, "retracted": 0}
    assert (found["samples"], found["waiting"], found["clusters"]) == (0, 4, [])
    assert found["age"] > 0
    listed = coffee.get("/api/v1/campaigns", params={"wait": 0})
    assert listed.json()["campaigns"][0]["waiting"] == 4
    assert int(listed.headers["age"]) >= 1
    stalled.go_on.set()
    found = coffee.get(HERE, params={"wait": 30}).json()
    assert (found["samples"], found["waiting"], found["age"]) == (4, 0, 0.0)


def test_an_error_of_the_computation_is_told_and_not_kept(coffee, monkeypatch):
    def broken(*_):
        raise RuntimeError("secret")

    with monkeypatch.context() as patch:
        patch.setattr(_Watched, "_make_state", broken)
        for _ in range(2):
            problem(coffee.get(HERE), 500, "the log of the service")
    assert coffee.get(HERE).json()["samples"] == 0


def test_unchanged_states_are_not_sent_again(coffee):
    add(coffee, 1.0)
    for path in ("", "/result", "/view"):
        first = coffee.get(HERE + path)
        tag = first.headers["etag"]
        assert first.headers["cache-control"] == "private, no-cache"
        for known in (tag, f"W/{tag}", f'"other", {tag}'):
            again = coffee.get(HERE + path, headers={"if-none-match": known})
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["etag"] == tag
        assert coffee.get(HERE + path, headers={"if-none-match": '"other"'}).content == first.content
    tags = [coffee.get(HERE + path).headers["etag"] for path in ("", "/result", "/view")]
    assert len(set(tags)) == 3
    add(coffee, 2.0)
    for path, tag in zip(("", "/result", "/view"), tags, strict=True):
        changed = coffee.get(HERE + path, headers={"if-none-match": tag})
        assert changed.status_code == 200
        assert changed.headers["etag"] != tag


def test_a_lease_that_ends_changes_the_state_without_a_write(coffee):
    coffee.post(f"{HERE}/ask", json={"lease": 1.0})
    coffee.post(f"{HERE}/ask", json={"lease": 60.0})
    before = coffee.get(HERE).json()
    assert before["tickets"]["open"] == 2
    assert len(coffee.get(f"{HERE}/view").json()["tickets"]) == 2
    time.sleep(1.1)
    after = coffee.get(HERE).json()
    assert (after["tickets"]["open"], after["tickets"]["expired"]) == (1, 1)
    assert after["version"] == before["version"]
    assert len(coffee.get(f"{HERE}/view").json()["tickets"]) == 1
    assert coffee.get("/api/v1/campaigns").json()["campaigns"][0]["tickets"]["open"] == 1


def test_what_another_process_writes_is_seen(coffee):
    assert coffee.get(HERE).json()["samples"] == 0
    Campaign.open("coffee", coffee.storage).add("ada", 1.0)
    assert coffee.get(HERE).json()["samples"] == 1
    assert coffee.get(f"{HERE}/view").json()["status"]["samples"] == 1


def test_many_readers_share_one_computation(coffee, monkeypatch):
    stalled = Stalled(monkeypatch, _Watched, "_make_view")
    stalled.go_on.clear()
    with ThreadPoolExecutor(24) as readers:
        found = [readers.submit(coffee.get, f"{HERE}/view") for _ in range(24)]
        time.sleep(0.5)
        stalled.go_on.set()
        bodies = {future.result().content for future in found}
    assert len(bodies) == 1
    assert stalled.calls == 1
    for _ in range(20):
        assert coffee.get(f"{HERE}/view").content in bodies
    assert stalled.calls == 1


def test_a_campaign_that_takes_long_holds_up_no_other(coffee, monkeypatch):
    """More requests for one campaign than there are threads; another one, and the lists, answer at once."""
    assert coffee.post("/api/v1/campaigns", json=COFFEE | {"name": "tea"}).status_code == 201
    assert coffee.get("/api/v1/campaigns").status_code == 200
    wait, tell = threading.Event(), Campaign.add_many

    def slow(this, *args, **kwargs):
        if this.name == "coffee":
            assert wait.wait(60)
        return tell(this, *args, **kwargs)

    monkeypatch.setattr(Campaign, "add_many", slow)
    with ThreadPoolExecutor(60) as senders:
        found = [senders.submit(add, coffee, float(i)) for i in range(60)]
        time.sleep(0.5)
        began = time.perf_counter()
        with httpx.Client(base_url=coffee.base_url, timeout=30, verify=False) as other:
            add(other, 1.0, "tea")
            assert other.get("/api/v1/campaigns/tea").json()["samples"] == 4
            assert other.get(f"{HERE}").json()["samples"] == 0
            assert len(other.get("/api/v1/campaigns").json()["campaigns"]) == 2
            assert other.get("/healthz").status_code == 200
        assert time.perf_counter() - began < 10.0
        assert not any(future.done() for future in found)
        wait.set()
        for future in found:
            future.result()
    assert coffee.get(HERE).json()["samples"] == 240


def test_too_many_who_wait_are_told_to_come_back(coffee, monkeypatch):
    monkeypatch.setattr("linkarms.server._workers.QUEUE", 3)
    stalled = Stalled(monkeypatch, Campaign, "ask")
    stalled.go_on.clear()
    with ThreadPoolExecutor(8) as senders:
        found = [senders.submit(coffee.post, f"{HERE}/ask", json={}) for _ in range(8)]
        end = time.monotonic() + 20
        while sum(future.done() for future in found) < 4 and time.monotonic() < end:
            time.sleep(0.02)
        stalled.go_on.set()
        answers = [future.result() for future in found]
    assert sorted(answer.status_code for answer in answers) == [200] * 4 + [503] * 4
    for answer in answers:
        if answer.status_code == 503:
            problem(answer, 503, "3 requests already wait for the campaign 'coffee'")


def test_no_more_streams_than_the_limit_says(coffee, monkeypatch):
    monkeypatch.setattr("linkarms.server._live.STREAMS", 20)
    over, lock, seen = threading.Event(), threading.Lock(), []

    def watch():
        # without certificates: forty clients would read them for seconds
        with httpx.stream("GET", f"{coffee.base_url}{HERE[:8]}events", timeout=60, verify=False) as stream:
            with lock:
                seen.append(stream.status_code)
            assert over.wait(60)

    with ThreadPoolExecutor(40) as watchers:
        found = [watchers.submit(watch) for _ in range(40)]
        end = time.monotonic() + 30
        while len(seen) < 40 and time.monotonic() < end:
            time.sleep(0.05)
        over.set()
        for future in found:
            future.result()
    assert sorted(seen) == [200] * 20 + [503] * 20
    end = time.monotonic() + 30  # and all places are free again
    while "linkarms_streams 0" not in coffee.get("/metrics").text and time.monotonic() < end:
        time.sleep(0.1)
    assert "linkarms_streams 0" in coffee.get("/metrics").text


def test_names_that_do_not_exist_are_not_kept(coffee):
    for i in range(300):
        assert coffee.get(f"/api/v1/campaigns/none-{i}").status_code == 404
    served = coffee.server.config.app.state.served
    assert not [name for name in served._watched if name.startswith("none-")]
