"""A sender whose broker goes away and comes back: what each policy promises, kept."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.client import Block, DeclarationError, DeliveryError, Fail, Sender, Spool, Spooled
from penstock.client.outbox import EVENT_ID
from penstock.client.prometheus import text_of
from penstock.client.record import Delivery
from penstock.pipelines.keyed.partitioner import crc32, murmur2
from penstock.testing.broker import Broker
from tests.patience import wait_until
from tests.unit.client.app.app_kit import Target, blocks, new_name
from tests.unit.cluster_target import TARGETS, bootstrap_servers

QUICK: dict[str, Any] = {"reconnect.backoff.max.ms": 100}


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    with Broker(tmp_path / "data") as made:
        made.create_topic("t", partitions=2)
        yield made


def by_key(broker: Broker) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for each in broker.read("t"):
        found[(each.key or b"").decode()].append(int(each.value or b""))
    return found


def sent_by_key(count: int, keys: int) -> dict[str, list[int]]:
    return {f"k{key}": list(range(key, count, keys)) for key in range(keys)}


# --- spool -----------------------------------------------------------------------------------


def spool(folder: Path, patience: str = "300ms", **more: Any) -> Spool:
    return Spool(folder / "spool", patience=patience, **more)


def test_a_spool_bridges_an_absence_in_order(broker: Broker, tmp_path: Path) -> None:
    # Patient: a broker that is only slow would have its records doubled.
    policy = spool(tmp_path, "3s")
    sender = Sender(broker.bootstrap_servers, when_refused=policy, settings=QUICK)
    futures = []

    def send(numbers: range) -> None:
        for number in numbers:
            futures.append(sender.send("t", f"k{number % 10}", number))

    send(range(300))
    assert sender.flush()
    broker.stop()
    send(range(300, 500))
    wait_until(lambda: sender.is_refused, "it is noticed")
    send(range(500, 600))
    assert all(isinstance(each.result(30), Spooled) for each in futures[300:600])
    broker.start()
    send(range(600, 900))
    assert sender.flush(60)
    wait_until(lambda: not sender.is_refused, "records go directly again")
    send(range(900, 1000))
    assert isinstance(futures[999].result(30), Delivery)
    sender.close()
    # The broker was stopped in good order with nothing under way: no record is there twice.
    assert by_key(broker) == sent_by_key(1000, 10)
    assert all(len(each.headers) == 1 for each in broker.read("t"))
    assert not list((tmp_path / "spool").glob("*.spool"))


def test_a_broker_that_is_killed_under_load(broker: Broker, tmp_path: Path) -> None:
    """Nothing is lost, and what is there twice has the same id: the order of first arrivals is
    that of sending."""
    sender = Sender(broker.bootstrap_servers, when_refused=spool(tmp_path), settings=QUICK)
    numbers = itertools.count()
    ended = threading.Event()

    def send() -> None:
        while not ended.is_set():
            number = next(numbers)
            sender.send("t", f"k{number % 10}", number)
            ended.wait(0.0005)

    thread = threading.Thread(target=send)
    thread.start()
    for _ in range(2):
        wait_until(lambda: not sender.is_refused, "records go directly")
        ended.wait(0.2)
        broker.kill()
        wait_until(lambda: sender.is_refused, "it is noticed")
        broker.start()
    ended.set()
    thread.join()
    sender.close(60)
    first: dict[str, list[int]] = defaultdict(list)
    ids: set[bytes | None] = set()
    for each in broker.read("t"):
        event_id = dict(each.headers)[EVENT_ID]
        if event_id not in ids:
            first[(each.key or b"").decode()].append(int(each.value or b""))
        ids.add(event_id)
    assert first == sent_by_key(next(numbers), 10)


PROGRAM = """
import sys
from penstock.client import Sender, Spool

sender = Sender(when_refused=Spool(sys.argv[1], patience="100ms"))
number = int(sys.argv[2])
while True:
    sender.send("t", f"k{number % 3}", number).result()
    print(number, flush=True)
    number += 1
"""


def test_what_was_spooled_survives_kill_9(broker: Broker, tmp_path: Path) -> None:
    environment = os.environ | {
        "PENSTOCK_BOOTSTRAP_SERVERS": broker.bootstrap_servers,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    broker.stop()
    told = 0
    for _ in range(2):
        command = [sys.executable, "-c", PROGRAM, str(tmp_path / "spool"), str(told)]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for line in process.stdout:
                told = int(line) + 1
                if told % 50 == 0:
                    break
            os.kill(process.pid, signal.SIGKILL)
            rest = process.stdout.read().split()
            told = int(rest[-1]) + 1 if rest else told
    broker.start()
    with Sender(broker.bootstrap_servers, when_refused=spool(tmp_path)) as sender:
        assert sender.flush(60)
    found = by_key(broker)
    for key, numbers in sent_by_key(told, 3).items():
        # One that was not reported as kept may be there all the same, and again after the kill.
        assert list(dict.fromkeys(found[key]))[: len(numbers)] == numbers
        assert len(found[key]) <= len(numbers) + 2


def test_a_spool_that_is_full_raises(broker: Broker, tmp_path: Path) -> None:
    policy = spool(tmp_path, bytes_max=100_000)
    sender = Sender(broker.bootstrap_servers, when_refused=policy, settings=QUICK)
    broker.stop()
    kept = 0
    with pytest.raises(DeliveryError, match="is full"):
        while True:
            sender.send("t", "k", b"x" * 10_000).result(30)
            kept += 1
    assert kept == 9
    broker.start()
    assert sender.flush(60)
    sender.close()
    assert len(broker.read("t")) == 9


def test_a_refused_record_does_not_hold_a_spool(broker: Broker, tmp_path: Path) -> None:
    broker.create_topic("small", config={"max.message.bytes": 1000})
    patient = spool(tmp_path, "30s")
    with Sender(broker.bootstrap_servers, when_refused=patient) as sender:
        refused = sender.send("small", "k", os.urandom(5000)).exception(60)
        assert isinstance(refused, DeliveryError) and "too large" in str(refused)
    sender = Sender(broker.bootstrap_servers, when_refused=spool(tmp_path), settings=QUICK)
    broker.stop()
    sender.send("small", "k", b"1").result(30)
    sender.send("small", "k", os.urandom(5000)).result(30)
    sender.send("small", "k", b"2").result(30)
    broker.start()
    assert sender.flush(60)
    sender.close()
    assert [each.value for each in broker.read("small")] == [b"1", b"2"]
    assert "too large" in (tmp_path / "spool" / "refused.jsonl").read_text()
    assert "penstock_sender_set_aside_total 1.0" in text_of(sender.metrics())


def test_a_refused_record_that_cannot_be_set_aside_stays_in_the_spool(
    broker: Broker, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broker.create_topic("small", config={"max.message.bytes": 1000})
    sender = Sender(broker.bootstrap_servers, when_refused=spool(tmp_path), settings=QUICK)
    broker.stop()
    sender.send("small", "k", b"1").result(30)
    sender.send("small", "k", os.urandom(5000)).result(30)
    sender.send("small", "k", b"2").result(30)
    refused = tmp_path / "spool" / "refused.jsonl"
    refused.mkdir()
    broker.start()
    wait_until(lambda: "Is a directory" in caplog.text, "it cannot be set aside")
    refused.rmdir()
    assert sender.flush(60)
    sender.close()
    assert [each.value for each in broker.read("small")] == [b"1", b"2"]
    assert len(refused.read_text().splitlines()) == 1


def test_one_process_has_a_spool(tmp_path: Path) -> None:
    first = Sender("127.0.0.1:1", when_refused=spool(tmp_path))
    with pytest.raises(DeclarationError, match="another process's"):
        Sender("127.0.0.1:1", when_refused=spool(tmp_path))
    first.close(0)


# --- block and fail --------------------------------------------------------------------------


def test_block_waits_until_the_broker_is_back(broker: Broker) -> None:
    policy = Block("30s", under_way_max=5)
    with Sender(broker.bootstrap_servers, when_refused=policy, settings=QUICK) as sender:
        sender.send("t", "k0", 0).result(30)
        broker.stop()
        futures = []

        def send() -> None:
            for number in range(1, 21):
                futures.append(sender.send("t", "k0", number))

        thread = threading.Thread(target=send)
        thread.start()
        wait_until(lambda: len(futures) == 5, "five are under way")
        thread.join(0.2)
        assert len(futures) == 5
        broker.start()
        thread.join(60)
    assert by_key(broker) == {"k0": list(range(21))}


def test_block_gives_up_in_the_end() -> None:
    policy = Block("300ms", under_way_max=2)
    with Sender("127.0.0.1:1", when_refused=policy) as sender:
        futures = [sender.send("t", None, number) for number in range(2)]
        for each in futures:
            with pytest.raises(DeliveryError, match="timed out"):
                each.result(30)
        assert sender.is_refused
        assert "penstock_sender_failed_total 2.0" in text_of(sender.metrics())


def test_fail_turns_away_at_once_and_notices_the_return(broker: Broker) -> None:
    policy = Fail("500ms", probe="100ms")
    with Sender(broker.bootstrap_servers, when_refused=policy, settings=QUICK) as sender:

        def taken() -> bool:
            try:
                return bool(sender.send("t", "k0", 0).result(30))
            except DeliveryError:
                return False

        wait_until(taken, "writes are taken")
        broker.stop()
        with pytest.raises(DeliveryError, match="timed out"):
            sender.send("t", "k0", 1).result(30)
        # Of these one may be let through to see.
        with pytest.raises(DeliveryError, match="refused at present"):
            for _ in range(2):
                sender.send("t", "k0", 2)
        broker.start()
        wait_until(taken, "writes are taken again")
        assert not sender.is_refused


# --- partitions and figures ------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
def test_partitions(target: str) -> None:
    servers, topic = bootstrap_servers(target), new_name()
    Target(target).create_topic(topic, partitions=5)
    keys = [f"customer-{number}" for number in range(60)]

    def placed(partitioner: Any, used: list[str | None]) -> list[int]:
        with Sender(servers, partitioner=partitioner) as sender:
            # Until librdkafka knows the topic, it spreads records without a key.
            sender.send(topic, None, 0, partition=0).result(30)
            futures = [sender.send(topic, key, 1) for key in used]
            done = [each.result(30) for each in futures]
        return [each.partition for each in done if isinstance(each, Delivery)]

    assert placed("murmur2", [*keys]) == [murmur2(key.encode(), 5) for key in keys]
    assert placed("crc32", [*keys]) == [crc32(key.encode(), 5) for key in keys]
    assert placed("round-robin", [*keys]) == [number % 5 for number in range(60)]
    # Sent at once they stay together, and without a key so does librdkafka.
    assert len(set(placed("sticky", [None] * 10))) <= 2
    assert len(set(placed("murmur2", [None] * 10))) <= 2

    def north_first(topic: str, key: bytes | None, partitions: int) -> int:
        return 0 if key is not None and key.startswith(b"north") else partitions - 1

    assert placed(north_first, ["north-1", "south-1", None]) == [0, 4, 4]
    with (
        Sender(servers, partitioner=lambda *_: 99) as sender,
        pytest.raises(ValueError, match="99"),
    ):
        sender.send(topic, "k", 1)


def test_metrics(broker: Broker) -> None:
    with Sender(broker.bootstrap_servers) as sender:
        for number in range(200):
            sender.send("t", f"k{number}", number)
        assert sender.flush()
        collector = sender.metrics()
        for figure in ('request_seconds{node="1"', 'batch_records{topic="t"'):
            wait_until(lambda figure=figure: figure in text_of(collector), figure)
        text = text_of(collector)
    assert "penstock_sender_acknowledged_total 200.0" in text
    assert 'penstock_sender_seconds_bucket{le="+Inf"} 200.0' in text
    (batch,) = [
        line for line in text.splitlines() if line.startswith("penstock_sender_batch_records{")
    ]
    assert float(batch.split()[-1]) > 1


def test_the_page(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """What docs/sending.md shows runs."""
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", broker.bootstrap_servers)
    monkeypatch.chdir(tmp_path)
    broker.create_topic("orders", partitions=3)
    first, second, third = blocks("docs/sending.md", "python")
    exec(first, {})
    assert "topic='orders'" in capsys.readouterr().out
    told: dict[str, Any] = {}
    exec(second, told)
    with told["sender"] as sender:
        placed = {sender.send("orders", "celebrity", n).result(30).partition for n in range(40)}
        assert placed == {0, 1, 2}
        assert sender.send("orders", "\0\0\0\4", 1).result(30).partition == 1
    broker.create_topic("scans")
    page = type(sys)("page")
    monkeypatch.setitem(sys.modules, "page", page)
    page.__dict__["__name__"] = "page"
    exec(third.replace("/tmp/penstock-claims", f"{tmp_path}/claims"), page.__dict__)
    page.__dict__["scanned"](7, "x" * 600_000)
    with page.__dict__["app"].test(broker) as test:
        test.settle()
    assert "page 7 has 600000 characters" in capsys.readouterr().out
    assert len(broker.read("scans")[0].value or b"") < 300
