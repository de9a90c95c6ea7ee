"""The audit log of real nodes: what clients did is on record, in the file and in the topic."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer

from penstock.cli.audit import parse_line
from penstock.model.internal_topic import AUDIT_TOPIC
from penstock.testing.broker import Broker
from tests.patience import wait_until
from tests.unit.cli.conftest import PENSTOCK

SETTINGS = {"penstock.audit.topic.enable": True, "penstock.audit.interval.ms": 1000}


def of_file(path: Path) -> list[dict[str, Any]]:
    return [json.loads(each) for each in path.read_bytes().splitlines()] if path.exists() else []


def of_topic(broker: Any) -> list[dict[str, Any]]:
    try:
        records = broker.read(AUDIT_TOPIC)
    except KafkaException:
        return []
    return [line for each in records if (line := parse_line(each.value)) is not None]


def command(*arguments: str) -> list[str]:
    done = subprocess.run([PENSTOCK, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def about(lines: Iterable[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    return [each for each in lines if all(each.get(k) == v for k, v in wanted.items())]


def test_file_and_topic_hold_the_same_and_the_command_finds_it(
    penstock_factory: Callable[..., Broker], tmp_path: Path
) -> None:
    file = tmp_path / "audit.jsonl"
    broker = penstock_factory({**SETTINGS, "penstock.audit.file": str(file)})
    broker.create_topic("orders", 2)
    broker.produce("orders", [b"a secret value"] * 10)
    broker.read("orders")
    read = {"operation": "READ", "resource": "orders"}
    wait_until(lambda: about(of_topic(broker), **read))
    wait_until(lambda: about(of_file(file), **read))

    written = about(of_file(file), operation="WRITE", resource="orders")
    assert sum(each["records"] for each in written) == 10
    (created,) = about(of_file(file), kind="change", resource="orders")
    assert created["after"]["partitions"] == 2 and created["outcome"] == "allowed"
    assert about(of_topic(broker), kind="change", resource="orders") == [created]
    assert about(of_file(file), operation="CONNECT")
    assert b"secret" not in file.read_bytes()

    asked = ("audit", "--resource", "orders", "--operation", "write", "--sum")
    header, row = command("-b", broker.bootstrap_servers, *asked)
    assert row.split()[header.split().index("RECORDS")] == "10"
    said = command("audit", "--file", str(file), "--kind", "change", "--json")
    assert created in [json.loads(each) for each in said]


def test_what_was_on_record_survives_a_kill(penstock_factory: Callable[..., Broker]) -> None:
    broker = penstock_factory(SETTINGS)
    broker.create_topic("t")
    wait_until(lambda: about(of_topic(broker), kind="change", resource="t"))
    broker.kill()
    broker.start()
    assert about(of_topic(broker), kind="change", resource="t")


def test_a_stop_writes_what_there_is(
    penstock_factory: Callable[..., Broker], tmp_path: Path
) -> None:
    file = tmp_path / "audit.jsonl"
    hour = {"penstock.audit.interval.ms": 3_600_000}
    broker = penstock_factory({**hour, "penstock.audit.file": str(file)})
    broker.create_topic("t")
    broker.produce("t", [b"x"])
    broker.stop()
    assert about(of_file(file), operation="WRITE", resource="t")


def test_a_sink_that_fails_holds_up_nobody_and_is_caught_up_with(
    penstock_factory: Callable[..., Broker], tmp_path: Path
) -> None:
    folder = tmp_path / "later"
    file = folder / "audit.jsonl"
    broker = penstock_factory({**SETTINGS, "penstock.audit.file": str(file)})
    broker.create_topic("t")
    broker.produce("t", [b"x"] * 5)
    wait_until(lambda: "audit log waits to be written" in broker.log)
    folder.mkdir()
    wait_until(lambda: about(of_file(file), kind="change", resource="t"))
    assert broker.log.count("audit log waits to be written") == 1
    wait_until(lambda: "audit log is written again" in broker.log)


def test_clients_do_not_write_it(penstock_factory: Callable[..., Broker]) -> None:
    broker = penstock_factory(SETTINGS)
    wait_until(lambda: of_topic(broker))
    failed = []
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "acks": "all"})
    producer.produce(AUDIT_TOPIC, b"forged", on_delivery=lambda error, _: failed.append(error))
    producer.flush(60)
    assert [error is not None for error in failed] == [True]
    assert not [each for each in broker.read(AUDIT_TOPIC) if each.value == b"forged"]


@pytest.mark.penstock(settings=SETTINGS)
def test_each_of_three_nodes_has_its_lines_in_the_topic(penstock_cluster: Any) -> None:
    penstock_cluster.create_topic("t", 6)
    penstock_cluster.produce("t", [(b"%d" % n, b"x") for n in range(100)])
    nodes = set(penstock_cluster.nodes)

    def writers() -> set[int]:
        written = about(of_topic(penstock_cluster), operation="WRITE", resource="t")
        return {each["node"] for each in written}

    wait_until(lambda: writers() == nodes)
    written = about(of_topic(penstock_cluster), operation="WRITE", resource="t")
    assert sum(each["records"] for each in written) == 100
