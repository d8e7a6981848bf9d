"""The examples of docs/service.md in the shell and in JavaScript run, on a real service."""

import shutil
import subprocess

import pytest
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
