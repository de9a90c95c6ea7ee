"""A quota of a user who is logged in holds for whatever that user runs, and for nobody else."""

from __future__ import annotations

from pathlib import Path

from confluent_kafka import Producer

from penstock.cli.cluster import Cluster
from penstock.cli.operator.link import Link
from penstock.cli.profile import Target
from penstock.cli.quota import alter_quota
from tests.security.sasl_kit import ALICE, BOB, SaslBroker, sasl_broker

PATIENCE_S = 60
BATCHES = 4


def waits_of(broker: SaslBroker, mechanism: str, who: tuple[str, str], client_id: str) -> float:
    """The longest that a producer of this user was told to wait, with all that it sent arrived."""
    waits: list[float] = [0.0]
    settings = broker.client(mechanism, *who) | {
        "client.id": client_id,
        "linger.ms": 0,
        "throttle_cb": lambda event: waits.append(event.throttle_time),
    }
    producer = Producer(settings)
    for _ in range(BATCHES):
        producer.produce("t", b"." * 9000)
        assert producer.flush(PATIENCE_S) == 0
    producer.poll(0.2)
    return max(waits)


def test_a_user_shares_one_quota_over_all_its_clients(tmp_path: Path) -> None:
    with sasl_broker(tmp_path) as broker:
        link = Link(Cluster(Target(broker.open)))
        alter_quota(link, (("user", ALICE[0]),), {"producer_byte_rate": 3000.0})
        # The first client uses up what ten quiet seconds left.
        assert waits_of(broker, "SCRAM-SHA-512", ALICE, "one") > 0
        assert waits_of(broker, "SCRAM-SHA-256", ALICE, "other") > 0
        assert waits_of(broker, "PLAIN", BOB, "one") == 0
        alter_quota(link, (("user", ALICE[0]),), {"producer_byte_rate": None})
        assert waits_of(broker, "SCRAM-SHA-512", ALICE, "one") == 0
