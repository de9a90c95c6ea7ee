"""`penstock catalog sync`: tables like the cluster, on SQLite and PostgreSQL."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.patience import wait_until
from tests.postgres_kit import running_postgres
from tests.unit.cli.conftest import PENSTOCK, Command
from tools.postgres import Postgres


@contextmanager
def member(command: Command, group: str, topic: str, **settings: Any) -> Iterator[Consumer]:
    """A consumer that has been given all partitions of the topic."""
    own = {"bootstrap.servers": command.servers, "group.id": group, "enable.auto.commit": False}
    consumer = Consumer(own | {key.replace("_", "."): each for key, each in settings.items()})
    try:
        consumer.subscribe([topic])

        def assigned() -> bool:
            consumer.poll(0.1)
            return len(consumer.assignment()) == 2

        wait_until(assigned)
        yield consumer
    finally:
        consumer.close()


def commit(command: Command, group: str, topic: str, offset: int) -> None:
    """As no member of the group."""
    consumer = Consumer({"bootstrap.servers": command.servers, "group.id": group})
    try:
        consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    finally:
        consumer.close()


def test_tables_follow_topics_groups_and_offsets(
    command: Command, topic: str, tmp_path: Path
) -> None:
    def sync() -> None:
        command.run("catalog", "sync", "--once", "-d", f"sqlite:///{tmp_path}/catalog.db")

    def select(statement: str) -> list[tuple[Any, ...]]:
        with sqlite3.connect(tmp_path / "catalog.db") as connection:
            found = connection.execute(statement).fetchall()
        connection.close()
        return found

    simple, live = f"simple-{topic}", f"live-{topic}"
    command.run("topics", "create", topic, "-p", "2", "-s", "retention.ms=60000")
    command.run("produce", topic, "-p", "0", stdin=b"1\n2\n3\n")
    commit(command, simple, topic, 2)
    with member(command, live, topic, group_protocol="consumer") as consumer:
        sync()
        name = consumer.memberid()
    mine = f"WHERE topic = '{topic}' ORDER BY group_id, partition"
    assert select(f"SELECT * FROM Topic WHERE name = '{topic}'")[0][1:] == (topic, 2, 1, 60000)
    assert select(f"SELECT * FROM PartitionAssignment {mine}") == [
        (live, topic, 0, name, 0),
        (live, topic, 1, name, 0),
        (simple, topic, 0, None, 2),
    ]
    (lag,) = select(f"SELECT * FROM PartitionLag {mine}")
    assert lag[:3] + lag[4:6] == (simple, topic, 0, 3, 1)
    assert lag[6] > 0
    assert select(f"SELECT * FROM TopicSetting WHERE topic = '{topic}'") == [
        (topic, "retention.ms", "60000")
    ]
    # What was read is not read again: by the log alone it would be as it was.
    select(f"UPDATE ConsumerGroup SET protocol = 'marked' WHERE group_id = '{simple}'")
    commit(command, simple, topic, 3)
    sync()
    assert select(f"SELECT * FROM PartitionAssignment {mine}") == [(simple, topic, 0, None, 3)]
    assert select(f"SELECT lag, lag_seconds FROM PartitionLag {mine}") == [(0, 0.0)]
    assert select(f"SELECT protocol FROM ConsumerGroup WHERE group_id = '{simple}'") == [
        ("marked",)
    ]
    command.run("topics", "delete", topic)
    sync()
    assert select(f"SELECT * FROM Topic WHERE name = '{topic}'") == []
    assert select(f"SELECT * FROM Replica WHERE topic = '{topic}'") == []
    assert select(f"SELECT * FROM PartitionAssignment {mine}") == []


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    yield from running_postgres()


@pytest.mark.parametrize("command", ["penstock"], indirect=True)
def test_a_database_that_goes_away(command: Command, topic: str, postgres: Postgres) -> None:
    import psycopg

    def assignments() -> list[tuple[Any, ...]]:
        statement = (
            'SELECT group_id, topic, partition, consumer_id, "offset" FROM PartitionAssignment '
            "WHERE topic = %s ORDER BY partition"
        )
        with psycopg.connect(postgres.url) as connection:
            return connection.execute(statement, [topic]).fetchall()

    command.run("topics", "create", topic, "-p", "2")
    arguments = [PENSTOCK, "catalog", "sync", "-i", "0.5", "-d", postgres.url]
    with (
        member(command, topic, topic) as consumer,
        subprocess.Popen(arguments, stderr=subprocess.PIPE, env=command.environment()) as sync,
    ):
        assert sync.stderr is not None
        try:
            name = consumer.memberid()
            wait_until(lambda: _made(postgres) and len(assignments()) == 2)
            postgres.halt()
            consumer.commit(offsets=[TopicPartition(topic, 0, 7)], asynchronous=False)
            said = sync.stderr.readline().decode()
            assert "nothing is written until it is back" in said
            postgres.resume()
            expected = [(topic, topic, 0, name, 7), (topic, topic, 1, name, 0)]
            wait_until(lambda: assignments() == expected)
            assert "the database is back" in sync.stderr.readline().decode()
        finally:
            sync.send_signal(signal.SIGINT)
            code = sync.wait(60)
        assert (code, sync.stderr.read()) == (130, b"")


def _made(postgres: Postgres) -> bool:
    import psycopg

    with psycopg.connect(postgres.url) as connection:
        found = connection.execute("SELECT to_regclass('partitionassignment')").fetchone()
    return found is not None and found[0] is not None


@pytest.mark.parametrize("command", ["penstock"], indirect=True)
def test_databases_that_cannot_be(command: Command, tmp_path: Path) -> None:
    sync = ("catalog", "sync", "--once", "--database")
    said = command.fail(*sync, "mysql://localhost/x", code=2)
    assert said.startswith("--database takes sqlite:///FILE or postgresql://")
    missing = f"sqlite:///{tmp_path}/no/such/folder.db"
    assert "unable to open database file" in command.fail(*sync, missing)
    assert command.fail(*sync, "postgresql://me@127.0.0.1:1/x").startswith("postgresql://me@")
    database = f"sqlite:///{tmp_path}/catalog.db"
    command.run(*sync, database)
    with sqlite3.connect(tmp_path / "catalog.db") as connection:
        connection.execute("UPDATE CatalogState SET value = 'x' WHERE name = 'cluster_id'")
    connection.close()
    assert "has the catalog of another cluster, x" in command.fail(*sync, database)


@pytest.mark.parametrize("command", ["penstock"], indirect=True)
def test_a_file_by_a_url_with_settings_is_the_same_file(
    command: Command, topic: str, tmp_path: Path
) -> None:
    sync = ("catalog", "sync", "--once", "--database")
    plain = f"sqlite:///{tmp_path}/cata%20log.db"
    command.run("topics", "create", topic, "-p", "2")
    commit(command, topic, topic, 7)
    command.run(*sync, f"{plain}?timeout=5")
    path = tmp_path / "cata log.db"
    with sqlite3.connect(path) as connection:
        before = connection.execute("SELECT * FROM Topic ORDER BY id").fetchall()
        connection.execute(f"UPDATE ConsumerGroup SET protocol = 'x' WHERE group_id = '{topic}'")
    connection.close()
    command.run("topics", "alter", topic, "-s", "retention.ms=60000")
    command.run(*sync, f"sqlite:///{path}")
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT id, name FROM Topic ORDER BY id").fetchall() == [
            each[:2] for each in before
        ]
        found = connection.execute(
            f"SELECT protocol, retention_ms FROM ConsumerGroup, Topic WHERE group_id = name"
            f" AND name = '{topic}'"
        ).fetchall()
    connection.close()
    assert found == [("x", 60000)]
