"""After a sync has failed nothing is acknowledged any more, and the node gives up in good order."""

from __future__ import annotations

import errno
import threading
from pathlib import Path
from typing import NoReturn

import pytest

from penstock.model.error import ErrorCode
from penstock.node.main import _serve
from penstock.node.node import Node
from penstock.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from penstock.protocol.messages.metadata import MetadataRequest
from tests.node.node_kit import FailingDisk, running
from tests.node.test_full_disk import create, read_all
from tests.node.wire_kit import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    Wire,
    batch,
    fetch,
    fetched,
    part,
    produce,
    produced,
)

STORAGE_ERROR = ErrorCode.KAFKA_STORAGE_ERROR


def test_nothing_is_acknowledged_or_served_afterwards(tmp_path: Path) -> None:
    disk = FailingDisk()
    unsynced = CreatableTopic(
        name="unsynced",
        num_partitions=1,
        replication_factor=1,
        configs=[CreatableTopicConfig(name="flush.messages", value="1000000")],
    )
    with running(tmp_path / "data", disk) as node, Wire(node.address) as wire:
        assert wire.call(create("t"), 7).topics[0].error_code == 0
        assert wire.call(CreateTopicsRequest(topics=[unsynced]), 7).topics[0].error_code == 0
        for topic in ("t", "unsynced"):
            answer = produced(wire.call(produce(topic, batch(b"kept")), PRODUCE_VERSION))
            assert answer.error_code == 0
        disk.sync_errno = errno.EIO
        answer = produced(wire.call(produce("t", batch(b"gone")), PRODUCE_VERSION))
        assert answer.error_code == STORAGE_ERROR
        assert "cannot sync" in answer.error_message
        # The disk works again, but what it dropped meanwhile nobody knows.
        disk.sync_errno = 0
        for topic in ("t", "unsynced"):
            answer = produced(wire.call(produce(topic, batch(b"gone")), PRODUCE_VERSION))
            assert answer.error_code == STORAGE_ERROR
            assert "offline" in answer.error_message
            (one,) = fetched(wire.call(fetch({topic: [part()]}), FETCH_VERSION)).values()
            assert one.error_code == STORAGE_ERROR
        found = wire.call(MetadataRequest(topics=None), 12)
        assert [topic.name for topic in found.topics] == ["t", "unsynced"]
        node.stop()
    assert not (tmp_path / "data" / ".kafka_cleanshutdown").exists()
    with running(tmp_path / "data") as node, Wire(node.address) as wire:
        for topic in ("t", "unsynced"):
            assert read_all(wire, topic)[0] == b"kept"


def test_a_long_poll_is_woken(tmp_path: Path) -> None:
    disk = FailingDisk()
    with running(tmp_path / "data", disk) as node, Wire(node.address) as wire:
        assert wire.call(create("t"), 7).topics[0].error_code == 0
        wire.send(fetch({"t": [part()]}, max_wait_ms=9000), FETCH_VERSION)
        disk.sync_errno = errno.EIO
        with Wire(node.address) as other:
            answer = produced(other.call(produce("t", batch(b"gone")), PRODUCE_VERSION))
            assert answer.error_code == STORAGE_ERROR
        (one,) = fetched(wire.receive()).values()
        assert one.error_code == STORAGE_ERROR


def test_a_failed_sync_of_the_metadata_log_counts_as_well(tmp_path: Path) -> None:
    disk = FailingDisk()
    with running(tmp_path / "data", disk) as node, Wire(node.address) as wire:
        disk.sync_errno = errno.EIO
        answer = wire.call(create("t"), 7).topics[0]
        assert answer.error_code == STORAGE_ERROR
        disk.sync_errno = 0
        assert wire.call(create("t"), 7).topics[0].error_code == STORAGE_ERROR
        assert node.node.log_dirs.metadata.offline is not None


def test_the_process_ends_with_one_clear_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As `penstock start` runs it: the only log directory has failed, so the node stops."""
    import asyncio
    import gc

    from penstock.node.address import Address
    from penstock.node.options import NodeOptions
    from penstock.settings.config import BrokerConfig
    from penstock.telemetry.clock import SystemClock

    disk = FailingDisk()
    options = NodeOptions(Address("127.0.0.1", 0), None, (str(tmp_path / "data"),))
    node = Node(BrokerConfig(), options, SystemClock(), disk=disk)
    answers: list[int] = []

    def talk() -> None:
        with Wire(str(node.listen_address)) as wire:
            answers.append(wire.call(create("t"), 7).topics[0].error_code)
            disk.sync_errno = errno.EIO
            answer = produced(wire.call(produce("t", batch(b"gone")), PRODUCE_VERSION))
            answers.append(answer.error_code)

    def unexpected() -> NoReturn:
        raise AssertionError("every part of the node ends")

    client = threading.Thread(target=talk)
    code = asyncio.run(_serve(node, lambda _: client.start(), unexpected))
    client.join(10)
    gc.unfreeze()
    assert code == 1
    assert answers == [0, STORAGE_ERROR]
    lines = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert lines[-1] == "stopped: the data directory failed"
