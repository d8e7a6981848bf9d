"""Who gets in, and who does not: tokens, roles, hosts, origins, sizes."""

import http.client
import re
import stat
import subprocess
import time

import pytest
from tests.service_process import Service
from tests.service_thread import local_service
from tests.test_service import COFFEE, HERE, problem, stored

import linkarms as la
from linkarms.campaign import Campaign
from linkarms.server import Access, serve
from linkarms.server._access import COOKIE, read_tokens
from linkarms.server._limits import BODIES

READ, WRITE = "read-token-0123456789", "write-token-0123456789"
ACCESS = Access.from_tokens({READ: "read", WRITE: "write"})


def bearer(token):
    return {"authorization": f"Bearer {token}"}


@pytest.fixture
def service(tmp_path):
    with local_service(tmp_path / "runs.db", ACCESS) as client:
        yield client


@pytest.fixture
def open_service(tmp_path):
    with local_service(tmp_path / "runs.db") as client:
        client.post("/api/v1/campaigns", json=COFFEE)
        yield client


def test_roles(service):
    for headers in ({}, bearer("wrong-token-0123456789"), {"authorization": f"Basic {WRITE}"}, bearer("é")):
        headers = {k: v.encode() for k, v in headers.items()}
        problem(service.post("/api/v1/campaigns", json=COFFEE, headers=headers), 401, "give a token")
        problem(service.get("/api/v1/campaigns", headers=headers), 401, "give a token")
        problem(service.get("/metrics", headers=headers), 401, "give a token")
    problem(service.post("/api/v1/campaigns", json=COFFEE, headers=bearer(READ)), 403, "may only read")
    assert stored(service) == ""
    assert service.post("/api/v1/campaigns", json=COFFEE, headers=bearer(WRITE)).status_code == 201
    assert service.get(HERE, headers=bearer(READ)).status_code == 200
    assert service.get("/metrics", headers=bearer(READ)).status_code == 200
    before = stored(service)
    for path in ("ask", "tell", "add", "release", "retract", "doctor"):
        problem(service.post(f"{HERE}/{path}", json={}, headers=bearer(READ)), 403, "may only read")
    assert stored(service) == before
    # a token in an address is no token
    problem(service.get(f"/api/v1/campaigns?token={WRITE}"), 401, "give a token")
    for path in ("/", "/static/app.js", "/healthz", "/openapi.json"):
        assert service.get(path).status_code == 200


def test_the_page_logs_in_with_a_cookie(service):
    assert service.get("/api/v1/session").json() == {"role": None, "tokens": True}
    problem(service.post("/api/v1/session", json={"token": "wrong-token-0123456789"}), 401, "no such token")
    answer = service.post("/api/v1/session", json={"token": READ})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/" in cookie
    assert READ not in cookie
    assert service.get("/api/v1/session").json() == {"role": "read", "tokens": True}
    assert service.get("/api/v1/campaigns").status_code == 200
    problem(service.post("/api/v1/campaigns", json=COFFEE), 403, "may only read")
    assert service.delete("/api/v1/session").status_code == 204
    problem(service.get("/api/v1/campaigns"), 401, "give a token")


def test_a_cookie_is_found_at_once_among_whatever_is_sent():
    from linkarms.server._guard import _session_of

    began = time.process_time()
    for noise in ('a="' + "\\a" * 30_000 + '"', ";" * 60_000, "=" * 60_000, '"' * 60_000, "a=b;" * 15_000):
        assert _session_of(noise) is None
        assert _session_of(f"{noise}; linkarms_session=12.ab.cd") == "12.ab.cd"
    assert time.process_time() - began < 0.5  # `http.cookies` of Python 3.11.7 takes seconds for the first


def test_cookies_cannot_be_made_up(monkeypatch):
    cookie = ACCESS.cookie(READ)
    assert ACCESS.role_of_cookie(cookie) == "read"
    until, who, proof = cookie.split(".")
    for forged in (
        f"{int(until) + 9}.{who}.{proof}",
        f"{until}.{who}.{proof[:-1]}",
        proof,
        "",
        "a.b.c",
        f"9.{who}.é",
    ):
        assert ACCESS.role_of_cookie(forged) is None
    assert Access.from_tokens({WRITE: "write"}).role_of_cookie(cookie) is None
    # another process that knows the token takes it; after twelve hours nobody does
    assert Access.from_tokens({READ: "write"}).role_of_cookie(cookie) == "write"
    monkeypatch.setattr("linkarms.server._access.time.time", lambda: int(until) + 1)
    assert ACCESS.role_of_cookie(cookie) is None
    assert Access.from_tokens({READ: "read"}, secure=True).cookie_settings["secure"] is True
    assert re.fullmatch(r"[\w.]+", cookie)
    assert COOKIE == "linkarms_session"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[", "localhost@evil.example:1"]
)
def test_a_foreign_host_is_refused(open_service, host):
    before = stored(open_service)
    problem(open_service.get("/api/v1/campaigns", headers={"host": host}), 403, "Host")
    problem(open_service.post(f"{HERE}/ask", json={}, headers={"host": host}), 403, "Host")
    problem(open_service.get("/", headers={"host": host}), 403, "Host")
    assert stored(open_service) == before


def test_no_host_at_all_is_refused(open_service):
    connection = http.client.HTTPConnection("127.0.0.1", open_service.port)
    connection.putrequest("GET", "/api/v1/campaigns", skip_host=True)
    connection.endheaders()
    assert connection.getresponse().status in (400, 403)
    connection.close()


def test_a_foreign_origin_is_refused(open_service):
    before = stored(open_service)
    own = f"127.0.0.1:{open_service.port}"
    foreign = [
        "http://evil.example",
        "null",
        "http://127.0.0.1:1",
        "http://localhost",
        f"file://{own}",
        f"http://x@{own}",
        "",
    ]
    for origin in foreign:
        problem(open_service.post(f"{HERE}/ask", json={}, headers={"origin": origin}), 403, "other origins")
    for site in ("cross-site", "same-site"):
        problem(
            open_service.post(f"{HERE}/ask", json={}, headers={"sec-fetch-site": site}), 403, "other origins"
        )
    assert stored(open_service) == before
    # a link in somebody's wiki leads to the page, and to nothing else
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert open_service.get("/", headers=link).status_code == 200
    for change in ({"sec-fetch-dest": "iframe"}, {"sec-fetch-mode": "no-cors"}):
        problem(open_service.get("/", headers=link | change), 403, "other origins")
    problem(open_service.get(HERE, headers=link), 403, "other origins")
    problem(open_service.get("/static/app.js", headers=link), 403, "other origins")
    own_page = {"origin": f"http://{own}", "sec-fetch-site": "same-origin"}
    answer = open_service.post(f"{HERE}/ask", json={}, headers=own_page)
    assert answer.status_code == 200
    preflight = open_service.options(f"{HERE}/ask", headers={"origin": "http://evil.example"})
    assert preflight.status_code == 403
    for reply in (answer, preflight):
        assert not [name for name in reply.headers if name.startswith("access-control")]


def test_every_answer_carries_the_safe_headers(open_service):
    for path in ("/", "/static/app.js", "/api/v1/campaigns", "/api/v1/nowhere", "/openapi.json"):
        headers = open_service.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers or "uvicorn" in headers["server"]


def test_bodies_are_limited(open_service):
    before = stored(open_service)
    json_type = {"content-type": "application/json"}
    problem(
        open_service.post(f"{HERE}/add", content=b" " * (BODIES.samples + 1), headers=json_type),
        413,
        "larger than",
    )
    chunks = (b" " * 2**20 for _ in range(BODIES.samples // 2**20 + 2))
    problem(open_service.post(f"{HERE}/add", content=chunks, headers=json_type), 413, "larger than")
    assert stored(open_service) == before
    large = {"samples": [{"arm": "ada", "value": 0.5}] * 10_000}
    assert open_service.post(f"{HERE}/add", json=large).status_code == 200
    large["samples"].append({"arm": "ada", "value": 0.5})
    problem(open_service.post(f"{HERE}/add", json=large), 413, "too much at once")


def test_token_files(tmp_path):
    path = tmp_path / "tokens"
    path.write_text(f"# for the lab\nread {READ}\n\nwrite {WRITE}  # bench 1\n")
    for mode in (0o644, 0o640, 0o620, 0o660, 0o604):
        path.chmod(mode)
        with pytest.raises(la.errors.InvalidInput, match="chmod 600"):
            read_tokens(path)
    path.chmod(stat.S_IRUSR | stat.S_IWUSR)
    assert read_tokens(path) == {READ: "read", WRITE: "write"}
    for text, words in [
        ("", "no token"),
        ("admin abc", "line 1"),
        (f"read {READ} x", "line 1"),
        (f"read {READ}\n" * 2, "line 2"),
    ]:
        path.write_text(text)
        with pytest.raises(la.errors.InvalidInput, match=words):
            read_tokens(path)
    with pytest.raises(la.errors.InvalidInput, match="cannot be read"):
        read_tokens(tmp_path / "none")
    with pytest.raises(la.errors.InvalidInput, match="openssl rand"):
        Access.from_tokens({"short": "read"})
    with pytest.raises(la.errors.InvalidInput, match="role"):
        Access.from_tokens({READ: "admin"})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"host": "0.0.0.0"}, "--token-file"),
        ({"host": "lab.example"}, "--token-file"),
        ({"host": "::", "token_file": "tokens"}, "in the clear"),
        ({"behind_proxy": True}, "by way of a proxy"),
        ({"allow_hosts": ["lab.example"]}, "by way of a proxy"),
        ({"tls_cert": "x"}, "together"),
        ({"tls_cert": "x", "tls_key": "y"}, "cannot be read"),
        ({"port": 70_000}, "not a port"),
    ],
)
def test_it_does_not_start_unsafely(tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tokens").write_text(f"write {WRITE}\n")
    (tmp_path / "tokens").chmod(0o600)
    with pytest.raises(la.errors.InvalidInput, match=words):
        serve(tmp_path / "runs.db", **options)


def test_off_loopback_with_tokens_and_tls(tmp_path):
    tokens, cert, key = tmp_path / "tokens", tmp_path / "cert.pem", tmp_path / "key.pem"
    tokens.write_text(f"write {WRITE}\n")
    tokens.chmod(0o600)
    words = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=lab.example -addext subjectAltName=IP:127.0.0.1"
    subprocess.run(
        [*words.split(), "-keyout", key, "-out", cert],
        check=True,
        capture_output=True,
    )
    import ssl

    import httpx

    service = Service(
        tmp_path / "runs.db",
        "--host",
        "0.0.0.0",
        "--token-file",
        str(tokens),
        "--tls-cert",
        str(cert),
        "--tls-key",
        str(key),
        "--allow-host",
        "lab.example",
    )
    service.start(wait=False)
    try:
        assert "serving on https" in service.process.stderr.readline()
        context = ssl.create_default_context(cafile=str(cert))
        with httpx.Client(
            base_url=f"https://127.0.0.1:{service.port}", verify=context, timeout=120
        ) as client:
            assert client.get("/api/v1/campaigns").status_code == 401
            assert client.get("/api/v1/campaigns", headers=bearer(WRITE)).json() == {"campaigns": []}
            lab = {"host": "lab.example", **bearer(WRITE)}
            assert client.get("/api/v1/campaigns", headers=lab).status_code == 200
            assert client.get("/", headers={"host": "0.0.0.0"}).status_code == 403
            assert "Secure" in client.post("/api/v1/session", json={"token": WRITE}).headers["set-cookie"]
        assert service.stop() == 0
    finally:
        if service.process.poll() is None:
            service.kill()


def test_html_in_names_stays_text(open_service):
    body = COFFEE | {"name": "html", "arms": ["<img src=x onerror=alert(1)>", "b", "c"]}
    assert open_service.post("/api/v1/campaigns", json=body).status_code == 201
    answer = open_service.get("/api/v1/campaigns/html")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["arms"][0] == body["arms"][0]
    assert Campaign.open("html", open_service.storage).status().arms[0] == body["arms"][0]
