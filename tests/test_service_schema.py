"""schemathesis on the OpenAPI: whatever it sends, no 5xx, and no answer that is not described."""

import zlib

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.repeats import repeats
from tests.service_thread import local_service
from tests.test_service import COFFEE

from linkarms.campaign import Campaign

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
BOUNDED = settings(
    max_examples=repeats(7, 15),
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def explore(operation, mode, base, seen):
    """Send cases that fit the description (positive) or do not (negative); half of them to a campaign that exists."""

    def check(case):
        if "name" in case.path_parameters and zlib.crc32(repr(case.body).encode()) % 2:
            case.path_parameters["name"] = "coffee"
        answer = case.call(base_url=base)
        case.validate_response(answer, checks=CHECKS)
        seen.add(answer.status_code)

    seed(7)(BOUNDED(given(case=operation.as_strategy(generation_mode=mode))(check)))()


@pytest.mark.parametrize(
    "mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["positive", "negative"]
)
def test_no_surprise_for_whatever_is_sent(tmp_path, mode):
    seen = set()
    with local_service(tmp_path / "runs.db") as service:
        assert service.post("/api/v1/campaigns", json=COFFEE).status_code == 201
        base = str(service.base_url)
        schema = schemathesis.openapi.from_url(f"{base}/openapi.json")
        # a stream has no end; test_service.py reads one
        operations = [found.ok() for found in schema.exclude(path="/api/v1/events").get_all_operations()]
        for operation in operations:
            if mode == GenerationMode.POSITIVE or operation.body or operation.path_parameters:
                explore(operation, mode, base, seen)
    assert len(operations) >= 17
    assert seen >= ({200, 404} if mode == GenerationMode.POSITIVE else {422})
    assert Campaign.open("coffee", tmp_path / "runs.db").doctor().ok
