"""A broker for applications under test: Penstock, or Apache Kafka with `--target kafka`."""

from __future__ import annotations

import pytest

from tests.target import target_name
from tests.unit.client.app.app_kit import Target, new_name


@pytest.fixture
def target(request: pytest.FixtureRequest) -> Target:
    return Target(target_name(request.config))


@pytest.fixture
def name() -> str:
    return new_name()
