"""A data directory that Apache Kafka wrote opens here and serves the same, however it stopped."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.interop.cluster_view import View, view
from tests.interop.load_kit import (
    GROUP,
    RetryingProducer,
    end_open_transaction,
    open_transaction,
    write_everything,
)
from tools.brief_kafka import brief_kafka
from tools.tool_host import shared_tool_host

pytestmark = [pytest.mark.java, pytest.mark.timeout(300)]

SETTINGS = {
    "log.cleaner.backoff.ms": "200",
    "group.initial.rebalance.delay.ms": "0",
    # A killed broker is let in again when its session is over.
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "200",
    # Kafka lets every index file have its full size until the segment is complete.
    "log.index.size.max.bytes": "65536",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
}

ENTITIES = {
    ("--client", "c"): "producer_byte_rate=1000000",
    ("--client", "d"): "request_percentage=50",
    ("--user", "u", "--client-defaults"): "consumer_byte_rate=2000000",
    ("--user", "scram"): "SCRAM-SHA-256=[iterations=4096,password=secret]",
    ("--ip-defaults",): "connection_creation_rate=100",
}


def _configs(servers: str, *words: str) -> str:
    done = shared_tool_host().run("kafka-configs", ["--bootstrap-server", servers, *words])
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _shown(servers: str) -> list[str]:
    """Quotas and credentials, a line for each."""
    asked = [["clients"], ["users"], ["ips"], ["users", "clients"]]
    said = [
        _configs(
            servers, "--describe", *(word for kind in kinds for word in ("--entity-type", kind))
        )
        for kinds in asked
    ]
    return sorted("".join(said).splitlines())


@dataclass
class Written:
    directory: Path
    seen: View
    shown: list[str]
    producer: RetryingProducer


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Written]]:
    """One life of a Kafka broker: killed, copied, started again, stopped in order."""
    home = tmp_path_factory.mktemp("kafka")
    kafka = brief_kafka(home / "data", SETTINGS)
    kafka.start()
    try:
        servers = kafka.bootstrap_servers
        write_everything(servers)
        for entity, setting in ENTITIES.items():
            _configs(servers, "--alter", "--add-config", setting, *entity)
        shown = _shown(servers)
        producer = RetryingProducer()
        producer.begin(servers)
        producer.send(servers)
        transaction = open_transaction(servers)
        seen = view(servers, [GROUP])
        kafka.kill()
        killed = Path(shutil.copytree(home / "data", home / "killed"))
        kafka.start()
        seen_again = view(servers, [GROUP])
        kafka.stop()
        del transaction
    finally:
        kafka.kill()
    yield {
        "killed": Written(killed, seen, shown, producer),
        "stopped": Written(home / "data", seen_again, shown, producer),
    }


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_everything_is_served_as_kafka_did(
    written: dict[str, Written], how: str, penstock_factory: Callable[..., Any], tmp_path: Path
) -> None:
    case = written[how]
    data = Path(shutil.copytree(case.directory, tmp_path / "data"))
    broker = penstock_factory(data_dir=data)
    servers = broker.bootstrap_servers
    seen = view(servers, [GROUP])
    assert seen.ids == case.seen.ids
    assert seen.configs == case.seen.configs
    assert seen.group_offsets == case.seen.group_offsets
    assert seen.group_offsets[GROUP]["codecs", 0] == (11, "eleven")
    assert seen.partitions.keys() == case.seen.partitions.keys()
    for name, partition in case.seen.partitions.items():
        assert seen.partitions[name] == partition, name
    open_txn = seen.partitions["open-txn", 0]
    assert (len(open_txn.rows), len(open_txn.committed_rows)) == (2, 0)
    assert "gone" not in seen.ids
    case.producer.check_retry(servers)


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_it_goes_on_from_there(
    written: dict[str, Written], how: str, penstock_factory: Callable[..., Any], tmp_path: Path
) -> None:
    case = written[how]
    data = Path(shutil.copytree(case.directory, tmp_path / "data"))
    broker = penstock_factory(data_dir=data)
    ends = {key: each.latest for key, each in case.seen.partitions.items()}
    sent = broker.produce("segments", [b"ours"] * 3)
    assert [each.offset for each in sent] == [ends["segments", 0] + each for each in range(3)]
    broker.create_topic("new", 2)
    broker.produce("new", "x", partition=1)
    end_open_transaction(broker.bootstrap_servers)
    before = view(broker.bootstrap_servers, [GROUP])
    assert [row[4] for row in before.partitions["open-txn", 0].committed_rows] == [b"behind it"]
    broker.kill()
    broker.start()
    assert view(broker.bootstrap_servers, [GROUP]) == before
    broker.restart()
    assert view(broker.bootstrap_servers, [GROUP]) == before


def test_its_quotas_and_credentials_are_shown(
    written: dict[str, Written], penstock_factory: Callable[..., Any], tmp_path: Path
) -> None:
    data = Path(shutil.copytree(written["stopped"].directory, tmp_path / "data"))
    servers = penstock_factory(data_dir=data).bootstrap_servers
    assert _shown(servers) == written["stopped"].shown
    assert len(_shown(servers)) == len(ENTITIES)
