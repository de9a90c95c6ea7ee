"""A real PostgreSQL for tests, or a skip that says what is missing for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tools.postgres import Postgres, missing_prerequisite


def running_postgres(*, logical: bool = False) -> Iterator[Postgres]:
    """For a fixture, of whatever scope; `logical` as of `Postgres`."""
    missing = missing_prerequisite()
    if missing is not None:
        pytest.skip(missing)
    with Postgres(logical=logical) as server:
        yield server
