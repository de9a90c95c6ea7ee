"""The application client against a running broker."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from penstock import client
from penstock.client import ConsumeError, DecodeError, DeliveryError
from tests.unit.cluster_target import TARGETS, bootstrap_servers


@pytest.fixture(params=TARGETS)
def servers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    address = bootstrap_servers(request.param)
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", address)
    yield address
    client.close()


@pytest.fixture
def name() -> str:
    return f"client-{uuid.uuid4().hex[:8]}"


def test_produce_returns_where_the_record_stands(servers: str, name: str) -> None:
    first = client.produce(name, "k", {"n": 1}, headers={"h": "v"}, partition=1)
    second = client.produce(name, "k", {"n": 2}, partition=1)
    assert (first.topic, first.partition, first.offset) == (name, 1, 0)
    assert second.offset == 1
    assert second.timestamp >= first.timestamp > 1_600_000_000_000


def test_one_key_one_partition(servers: str, name: str) -> None:
    placed = {client.produce(name, "same", number).partition for number in range(5)}
    assert len(placed) == 1


def test_acks_of_every_kind(servers: str, name: str) -> None:
    client.produce(name, None, 1, partition=0)
    assert client.produce(name, None, 2, acks=1, partition=0).offset == 1
    assert client.produce(name, None, 3, acks=0, partition=0).offset == -1


def test_threads_share_the_producer(servers: str, name: str) -> None:
    deliveries: list[client.Delivery] = []

    def send(number: int) -> None:
        deliveries.append(client.produce(name, None, number, partition=0))

    threads = [threading.Thread(target=send, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.offset for each in deliveries) == list(range(20))


def test_a_refused_record_raises(servers: str, name: str) -> None:
    with pytest.raises(DeliveryError, match=name):
        client.produce(name, None, 1, partition=99, timeout_s=5)
    noise = os.urandom(2_000_000).hex()
    with pytest.raises(DeliveryError, match="too large"):
        client.produce(name, None, noise, timeout_s=10)


def test_after_a_fork_the_child_has_its_own(servers: str, name: str) -> None:
    code = (
        "import os, sys\n"
        "from penstock.client import produce\n"
        f"produce({name!r}, 'k', 'parent', partition=0)\n"
        "if os.fork() == 0:\n"
        f"    print(produce({name!r}, 'k', 'child', partition=0).offset, flush=True)\n"
        "    sys.exit()\n"
        "os.wait()\n"
        f"print(produce({name!r}, 'k', 'parent', partition=0).offset)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert (answer.stdout.split(), answer.stderr) == (["1", "2"], "")


def test_consume_goes_on_where_it_stopped(servers: str, name: str) -> None:
    for number in range(12):
        client.produce(name, f"k{number}", {"n": number}, headers={"h": "v"}, partition=0)
    first = client.consume(name, [name])
    second = client.consume(name, [name])
    assert [each.value["n"] for each in first] == list(range(10))
    assert [each.value["n"] for each in second] == [10, 11]
    assert (first[3].topic, first[3].partition, first[3].offset) == (name, 0, 3)
    assert (first[3].key, first[3].headers) == ("k3", [("h", b"v")])
    assert client.consume(name, [name], timeout_s=0.3) == []


def test_a_commit_is_where_the_next_reader_starts(servers: str, name: str) -> None:
    for number in range(5):
        client.produce(name, None, number, partition=0)
    read = client.consume(name, name, max_messages=3)
    client.commit_offset(name, name, 0, read[1].offset)
    client.close()
    assert [each.value for each in client.consume(name, name)] == [2, 3, 4]


def test_a_commit_without_having_read(servers: str, name: str) -> None:
    for number in range(3):
        client.produce(name, None, number, partition=0)
    client.commit_offset(name, name, 0, 1)
    client.close()
    assert [each.value for each in client.consume(name, name)] == [2]


def test_a_record_that_is_not_json_takes_its_turn(servers: str, name: str) -> None:
    client.produce(name, None, 1, partition=0)
    raw = Producer({"bootstrap.servers": servers})
    raw.produce(name, b"{", partition=0)
    raw.flush(10)
    client.produce(name, None, 3, partition=0)
    assert [each.value for each in client.consume(name, name)] == [1]
    with pytest.raises(DecodeError, match=f"{name}-0 offset 1"):
        client.consume(name, name)
    assert [each.value for each in client.consume(name, name)] == [3]


def test_a_missing_topic_is_named(servers: str, name: str) -> None:
    with pytest.raises(ConsumeError, match=f"{name}-x"):
        client.consume(name, f"{name}-x", timeout_s=5)


def test_no_broker_raises() -> None:
    with pytest.raises(ConsumeError, match="no broker answers"):
        client.consume("g", "t", timeout_s=0.5, bootstrap_servers="127.0.0.1:1")
    client.close()
