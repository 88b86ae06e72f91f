"""The service against its own OpenAPI description: whatever is sent, the answer is as described."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from rhetorica.service import Limits, create_app

schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")
APP = create_app(Limits(max_chars=2000), hosts=("testserver",))
OPERATIONS = [
    (path, method) for path, methods in APP.openapi()["paths"].items() for method in methods
]


@pytest.fixture(scope="module")
def schema() -> Any:
    return schemathesis.openapi.from_asgi("/api/openapi.json", APP)


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_every_request_is_answered_as_described(schema: Any, path: str, method: str) -> None:
    operation = schema[path][method.upper()]

    @settings(
        max_examples=20,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(operation.as_strategy())
    def ask(case: Any) -> None:
        response = case.call(timeout=300)  # the first one loads a model
        assert response.status_code < 500 or response.status_code == 501, response.text
        # That content which fits the schema is always accepted cannot be: it may be any file.
        case.validate_response(
            response, excluded_checks=[schemathesis.checks.positive_data_acceptance]
        )

    ask()
