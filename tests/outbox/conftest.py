"""Databases for tests of outbox and inbox: SQLite, and a real PostgreSQL where there is one."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from penstock.client.database import open_database
from tests.postgres_kit import running_postgres
from tools.postgres import Postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    yield from running_postgres()


@pytest.fixture
def postgres_url(postgres: Postgres) -> str:
    """A schema of its own for every test, in one server."""
    schema = f"s{uuid.uuid4().hex}"
    with closing(open_database(postgres.url)) as database, database.transaction() as sql:
        sql.execute(f"create schema {schema}")
    return f"{postgres.url}?options=-csearch_path%3D{schema}"


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/orders.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(
        "sqlite_url" if request.param == "sqlite" else "postgres_url"
    )
    return found
