"""A real PostgreSQL for tests, or a skip that says what is missing for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tools.postgres import Postgres, missing_prerequisite


def running_postgres() -> Iterator[Postgres]:
    """For a fixture, of whatever scope."""
    missing = missing_prerequisite()
    if missing is not None:
        pytest.skip(missing)
    with Postgres() as server:
        yield server
