"""A data directory that Penstock wrote opens in Apache Kafka and serves the same: the way back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.testing.port import free_port
from tests.interop.cluster_view import view
from tests.interop.load_kit import (
    GROUP,
    RetryingProducer,
    end_open_transaction,
    open_transaction,
    write_everything,
)
from tools.apache_kafka import ApacheKafka
from tools.brief_kafka import brief_kafka

pytestmark = [pytest.mark.java, pytest.mark.timeout(300)]


def kafka_on(data: Path) -> ApacheKafka:
    """A cluster of one that Penstock began names its voter nowhere: the settings have to."""
    broker, controller = free_port(), free_port()
    listeners = f"PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}"
    settings = {
        "listeners": listeners,
        "advertised.listeners": listeners,
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "controller.quorum.bootstrap.servers": "",
        # Kafka waits for as long before it believes that the broker of before is gone.
        "broker.session.timeout.ms": "2000",
        "broker.heartbeat.interval.ms": "200",
    }
    return brief_kafka(data, settings, port=broker)


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_kafka_serves_what_penstock_wrote(
    how: str, penstock_factory: Callable[..., Any], tmp_path: Path
) -> None:
    settings = {"offsets.topic.num.partitions": 4, "transaction.state.log.num.partitions": 4}
    broker = penstock_factory(settings, data_dir=tmp_path / "data")
    servers = broker.bootstrap_servers
    write_everything(servers)
    transaction = open_transaction(servers)
    producer = RetryingProducer()
    producer.begin(servers)
    producer.send(servers)
    seen = view(servers, [GROUP])
    broker.kill() if how == "killed" else broker.stop()
    del transaction
    still_open = seen.partitions["open-txn", 0]
    assert (len(still_open.rows), len(still_open.committed_rows)) == (2, 0)
    with kafka_on(tmp_path / "data") as kafka:
        theirs = view(kafka.bootstrap_servers, [GROUP])
        producer.check_retry(kafka.bootstrap_servers)
        producer.send(kafka.bootstrap_servers)
        end_open_transaction(kafka.bootstrap_servers)
    assert theirs.ids == seen.ids
    assert theirs.configs == seen.configs
    assert theirs.group_offsets == seen.group_offsets
    for name, partition in seen.partitions.items():
        assert theirs.partitions[name] == partition, name
    # And home again.
    broker.start()
    producer.check_retry(broker.bootstrap_servers)
    ours = view(broker.bootstrap_servers, [GROUP])
    assert ours.ids == seen.ids
    assert ours.group_offsets == seen.group_offsets
    assert len(ours.partitions["retried", 0].rows) == 2
    assert [row[4] for row in ours.partitions["open-txn", 0].committed_rows] == [b"behind it"]
