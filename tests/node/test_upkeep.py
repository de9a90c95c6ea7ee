"""Upkeep fails for one partition alone, says so once, and never ends; losses are in the metrics."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.model.error import StorageError
from penstock.node.address import Address
from penstock.node.failures import UpkeepFailures
from penstock.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from tests.node.node_kit import RunningNode, running
from tests.node.test_node_metrics import scrape, value
from tests.node.wire_kit import PRODUCE_VERSION, Wire, produce, produced, recent
from tests.patience import wait_until

QUICK = {
    "log.retention.check.interval.ms": "20",
    "log.cleaner.backoff.ms": "20",
    "producer.id.expiration.check.interval.ms": "20",
}
ANYWHERE = Address("127.0.0.1", 0)


def create(name: str, **config: str) -> CreateTopicsRequest:
    configs = [CreatableTopicConfig(name=key, value=value) for key, value in config.items()]
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1, configs=configs)
    return CreateTopicsRequest(topics=[topic])


def fill(node: RunningNode, name: str) -> None:
    with Wire(node.address) as wire:
        request = create(name, **{"internal.segment.bytes": "600", "retention.ms": "500"})
        assert wire.call(request, 7).topics[0].error_code == 0
        for number in range(20):
            answer = wire.call(produce(name, recent(b"%d" % number)), PRODUCE_VERSION)
            assert produced(answer).error_code == 0


def segments(home: Path, name: str) -> int:
    return len(list((home / f"{name}-0").glob("*.log")))


def test_garbage_in_one_partition_stops_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home = tmp_path / "data"
    slow = {"log.retention.check.interval.ms": "3600000"}
    with running(home, settings=slow) as node:
        for name in ("garbage", "rotten", "good"):
            fill(node, name)
    (home / "garbage-0" / "partition.metadata").write_bytes(os.urandom(60))
    last = max((home / "rotten-0").glob("*.log"))
    last.write_bytes(os.urandom(300))
    with running(home, settings=QUICK, metrics=ANYWHERE) as node:
        for name in ("garbage", "good"):
            wait_until(lambda name=name: segments(home, name) == 1)
        assert segments(home, "rotten") > 1
        assert last.stat().st_size == 300
        assert caplog.text.count("rotten-0 goes offline") == 1
        assert caplog.text.count("garbage-0/partition.metadata") == 1
        samples = scrape(node)
        assert value(samples, "penstock_partitions_offline") == 1
        assert value(samples, "penstock_log_dir_offline") == 0
    assert b"topic_id" in (home / "garbage-0" / "partition.metadata").read_bytes()


def test_a_job_that_fails_is_counted_said_once_and_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.node.upkeep.apply_retention", broken)
    with running(tmp_path / "data", settings=QUICK, metrics=ANYWHERE) as node:
        fill(node, "t")
        rounds = node.node._upkeep.rounds
        wait_until(lambda: rounds["retention"] > 5)
        assert value(scrape(node), "penstock_upkeep_failures", job="retention") >= 4
        failed = [one for one in caplog.records if one.getMessage() == "upkeep failed"]
        assert len(failed) == 1
        assert failed[0].fields["subject"] == "t-0"  # type: ignore[attr-defined]
        monkeypatch.undo()
        wait_until(lambda: segments(tmp_path / "data", "t") == 1)
        assert node.node.log_dirs.metadata.offline is None


def broken(*_: object) -> int:
    raise ValueError("what nobody thought of")


def test_a_task_that_ends_is_noticed_and_begun_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[None] = []

    def interval_s(_: object) -> float:
        asked.append(None)
        if len(asked) == 2:
            raise SystemError("outside of all that is guarded")
        return 0.01

    monkeypatch.setattr("penstock.node.upkeep.Upkeep._checkpoint_interval_s", interval_s)
    monkeypatch.setattr("penstock.node.upkeep.RESTART_S", 0.01)
    with running(tmp_path / "data") as node:
        wait_until(lambda: node.node._upkeep.rounds["checkpoint"] > 3)
        assert dict(node.node._upkeep.failures.counts()) == {("checkpoint",): 1}
    assert caplog.text.count("upkeep failed") == 1


def test_a_metadata_log_that_is_not_written_any_more_ends_the_node(tmp_path: Path) -> None:
    with running(tmp_path / "data", settings=QUICK) as node:
        node.ask(lambda: node.node._metadata._runtime.fail(RuntimeError("a bug")))
        wait_until(lambda: node.node.log_dirs.metadata.offline is not None)
        assert isinstance(node.node.log_dirs.metadata.offline, StorageError)
        assert "a bug" in str(node.node.log_dirs.metadata.offline)


def test_what_nobody_was_there_for_is_counted_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise ValueError("in a callback")

    with running(tmp_path / "data", metrics=ANYWHERE) as node:
        node.ask(lambda: node._loop.call_soon(fail))
        wait_until(lambda: node.node.metrics.unexpected_errors)
        assert value(scrape(node), "penstock_unexpected_errors_total") == 1
        assert "in a callback" in caplog.text


def test_records_that_a_recovery_cut_are_in_the_metrics(tmp_path: Path) -> None:
    home = tmp_path / "data"
    with running(home, settings=QUICK) as node:
        with Wire(node.address) as wire:
            assert wire.call(create("t"), 7).topics[0].error_code == 0
            for number in range(10):
                wire.call(produce("t", recent(b"%d" % number)), PRODUCE_VERSION)
        node.abandon()
    path = home / "t-0" / "00000000000000000000.log"
    data = bytearray(path.read_bytes())
    size = len(data) // 10
    data[4 * size + 65] ^= 1
    path.write_bytes(data)
    with running(home, metrics=ANYWHERE) as node:
        samples = scrape(node)
        assert value(samples, "penstock_recovery_records_cut") == 6
        assert value(samples, "penstock_recovery_bytes_cut") == 6 * size
        assert value(samples, "penstock_recovery_logs_cut") == 1


def test_news_of_failures() -> None:
    failures = UpkeepFailures()
    for error in ("a", "a", "b"):
        failures.note("job", "t-0", ValueError(error))
    failures.passed("job", "t-0")
    failures.passed("job", "t-0")
    failures.note("other", "node", ValueError("a"))
    assert dict(failures.counts()) == {("job",): 3, ("other",): 1}
