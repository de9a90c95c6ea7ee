"""Metrics as Prometheus reads them, moving with the traffic; logs as machines read them."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from penstock.node.address import Address
from penstock.telemetry.log import JsonFormatter
from tests.node.node_kit import RunningNode, running
from tests.node.test_full_disk import create
from tests.node.wire_kit import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    Wire,
    batch,
    fetch,
    part,
    produce,
    produced,
)

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def node(tmp_path: Path) -> Iterator[RunningNode]:
    with running(tmp_path / "data", metrics=Address("127.0.0.1", 0)) as started:
        yield started


def scrape(node: RunningNode) -> Samples:
    with urlopen(f"http://{node.node.metrics_address}/metrics", timeout=60) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        text = answer.read().decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples.get((name, tuple(sorted(labels.items()))), 0.0)


def test_traffic_is_counted(node: RunningNode) -> None:
    before = scrape(node)
    data = batch(b"one", b"two", b"three")
    with Wire(node.address) as wire:
        assert wire.call(create("t"), 7).topics[0].error_code == 0
        for _ in range(4):
            assert produced(wire.call(produce("t", data), PRODUCE_VERSION)).error_code == 0
        assert len(wire.call(fetch({"t": [part()]}), FETCH_VERSION).responses) == 1
        produced(wire.call(produce("nowhere", data), PRODUCE_VERSION))
        after = scrape(node)
    grown = {key: after[key] - before.get(key, 0.0) for key in after}
    assert value(grown, "penstock_messages_in_total") == 12
    assert value(grown, "penstock_batches_in_total") == 4
    assert value(grown, "penstock_bytes_in_total") == 4 * len(data)
    assert value(grown, "penstock_bytes_out_total") == 4 * len(data)
    assert value(grown, "penstock_connections_accepted") == 1
    assert value(after, "penstock_connections") == 1
    assert value(grown, "penstock_received_bytes") > 4 * len(data)
    assert value(grown, "penstock_sent_bytes") > 4 * len(data)
    error = {"api": "Produce", "error": "UNKNOWN_TOPIC_OR_PARTITION"}
    assert value(grown, "penstock_errors_total", **error) == 1


def test_latencies_by_api(node: RunningNode) -> None:
    with Wire(node.address) as wire:
        assert wire.call(create("t"), 7).topics[0].error_code == 0
        for _ in range(3):
            wire.call(produce("t", batch(b"x")), PRODUCE_VERSION)
        wire.call(fetch({"t": [part(offset=3)]}, max_wait_ms=120), FETCH_VERSION)
        found = scrape(node)
    assert value(found, "penstock_request_seconds_count", api="Produce") == 3
    assert value(found, "penstock_request_seconds_count", api="CreateTopics") == 1
    assert value(found, "penstock_request_seconds_sum", api="Produce") > 0
    # A long poll counts from its arrival to its answer.
    assert value(found, "penstock_request_seconds_sum", api="Fetch") >= 0.11
    buckets = [
        count
        for (name, labels), count in found.items()
        if name == "penstock_request_seconds_bucket" and ("api", "Produce") in labels
    ]
    assert buckets == sorted(buckets)
    assert buckets[-1] == 3


def test_flushes_are_timed(node: RunningNode) -> None:
    with Wire(node.address) as wire:
        assert wire.call(create("t"), 7).topics[0].error_code == 0
        before = scrape(node)
        for _ in range(5):
            wire.call(produce("t", batch(b"x")), PRODUCE_VERSION)
        after = scrape(node)
    count = value(after, "penstock_flush_seconds_count") - value(
        before, "penstock_flush_seconds_count"
    )
    assert count == 5
    assert value(after, "penstock_flush_seconds_sum") > value(before, "penstock_flush_seconds_sum")


def test_logs_have_sizes(node: RunningNode) -> None:
    data = batch(b"x" * 100)
    with Wire(node.address) as wire:
        assert wire.call(create("t"), 7).topics[0].error_code == 0
        for _ in range(3):
            wire.call(produce("t", data), PRODUCE_VERSION)
        found = scrape(node)
    where = {"topic": "t", "partition": "0"}
    assert value(found, "penstock_log_size_bytes", **where) == 3 * len(data)
    assert value(found, "penstock_log_end_offset", **where) == 3
    assert value(found, "penstock_partitions") == 1
    assert value(found, "penstock_log_dir_offline") == 0


def test_a_failed_disk_shows(tmp_path: Path) -> None:
    import errno

    from tests.node.node_kit import FailingDisk

    disk = FailingDisk()
    with running(tmp_path / "data", disk, metrics=Address("127.0.0.1", 0)) as node:
        with Wire(node.address) as wire:
            assert wire.call(create("t"), 7).topics[0].error_code == 0
            disk.sync_errno = errno.EIO
            wire.call(produce("t", batch(b"x")), PRODUCE_VERSION)
        assert value(scrape(node), "penstock_log_dir_offline") == 1


def test_other_paths(node: RunningNode) -> None:
    with urlopen(f"http://{node.node.metrics_address}/healthz", timeout=60) as answer:
        assert answer.read() == b"ok\n"
    with pytest.raises(HTTPError, match="404") as caught:
        urlopen(f"http://{node.node.metrics_address}/nothing", timeout=60)
    caught.value.close()


def test_every_log_line_is_json_whatever_is_in_it() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("penstock.test-json")
    logger.addHandler(handler)
    logger.propagate = False
    logger.setLevel("INFO")

    def say(event: str, **fields: Any) -> None:
        logger.info(event, extra={"fields": fields})

    say("plain")
    say('with "quotes"\nand lines', path=Path("x"), data=b"\xff", number=3, nothing=None)
    try:
        raise ValueError("broken")
    except ValueError:
        logger.exception("failed", extra={"fields": {"peer": "p"}})
    logger.removeHandler(handler)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["plain", 'with "quotes"\nand lines', "failed"]
    assert lines[1]["number"] == 3
    assert "ValueError: broken" in lines[2]["exception"]
    assert {"time", "level", "source", "event"} <= lines[0].keys()
