"""The examples of docs/service.md in the shell and in JavaScript run, on a real service."""

import re
import shutil
import subprocess

import pytest
from tests.pages import run_page
from tests.postgres import required
from tests.service_process import Service
from tests.test_docs import ROOT, blocks

from linkarms.campaign import Campaign


def test_curl_and_node_examples(tmp_path):
    missing = [program for program in ("curl", "node") if shutil.which(program) is None]
    if missing and not required():
        pytest.skip(f"{missing[0]} is not installed")
    text = (ROOT / "docs" / "service.md").read_text("utf-8")
    source = {language: content for language, _, content in blocks(text) if language in ("sh", "js")}
    with Service(tmp_path / "runs.db") as service:

        def run(program, language):
            code = source[language].replace("http://127.0.0.1:8000", service.url)
            return subprocess.run(
                program, input=code, text=True, check=True, capture_output=True, timeout=120
            ).stdout

        told = run(["sh", "-e"], "sh")
        assert '"tickets":[{"id":1,"arm":"ada"' in told
        assert told.count(",told\n") == 3
        assert "wrong with probability at most 0.05" in run(["node", "--input-type=module"], "js")
    assert Campaign.open("coffee", tmp_path / "runs.db").status().stopped


#: Starts one service in a network of its own, where every port is free and the address of the page exists; asks it how it is, and stops it.
SERVED = """
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=lab.example -keyout lab.key -out lab.pem -days 1 2>openssl.log
(umask 077; printf 'read reader-0123456789abcdef\\nwrite writer-0123456789abcdef\\n' > tokens)
unshare --net bash -euo pipefail <<'NETWORK'
ip link set lo up
ip address add 10.0.0.5/32 dev lo
COMMAND 2> said &
until grep -q 'serving on' said; do kill -0 $! || { cat said; exit 1; }; sleep 0.05; done
curl -sSk --noproxy '*' "$(sed -n 's/.*serving on \\([^ ]*\\) .*/\\1/p' said | sed 's/0\\.0\\.0\\.0/127.0.0.1/')/healthz"
kill -TERM $!
wait $!
NETWORK
"""


def serve_commands():
    """The lines of the page that start a service."""
    text = (ROOT / "docs" / "service.md").read_text("utf-8")
    found = [content for language, _, content in blocks(text) if language == "bash"]
    return re.findall(r"^(linkarms serve[^#\n]*?)\s*(?:#.*)?$", "\n".join(found), re.MULTILINE)


def has_network_of_its_own():
    """Whether this user may have one."""
    tools = ("unshare", "ip", "curl", "openssl")
    return (
        all(map(shutil.which, tools))
        and subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode == 0
    )


@pytest.mark.parametrize("command", serve_commands())
def test_commands_that_serve_work_as_typed(command, tmp_path):
    if not required() and not has_network_of_its_own():
        pytest.skip("this user may not have a network namespace")
    ran = run_page(SERVED.replace("COMMAND", command), tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout == "ok\n"


def test_the_page_shows_how_to_serve():
    assert len(serve_commands()) == 6
    assert all(f"linkarms serve{x}" in " ".join(serve_commands()) for x in (" --demo", " --host 10.0.0.5"))
