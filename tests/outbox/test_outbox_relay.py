"""The relay against a real broker: in order per key, once, whatever is killed in between."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import uuid
from collections.abc import Sequence
from contextlib import closing

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException
from confluent_kafka.admin import AdminClient

from penstock.client import outbox
from penstock.client.database import open_database
from penstock.client.error import DeliveryError
from penstock.client.outbox.relay import Relay
from penstock.client.outbox.sender import ShardSender
from penstock.client.outbox.shard import Claim, ShardLostError, ShardStore
from penstock.testing.broker import Broker
from penstock.testing.record import Record, read_records
from tests.outbox.outbox_kit import begun, fill, make, rows
from tests.patience import wait_until
from tests.unit.cluster_target import TARGETS, bootstrap_servers

KEYS = [f"order-{number}" for number in range(7)]
COMMITTED = {"isolation.level": "read_committed"}
LEASE_MS = 60_000


def wait_empty(url: str) -> None:
    waiting = "select count(*) from penstock_outbox where error is null"
    wait_until(lambda: rows(url, waiting)[0][0] == 0, "events still wait")


def count_rows(url: str) -> int:
    return int(rows(url, "select count(*) from penstock_outbox")[0][0])


def committed(broker: Broker, topic: str) -> list[Record]:
    return broker.read(topic, settings=COMMITTED, timeout_s=60)


def check_once_in_order(records: Sequence[Record], count: int) -> None:
    by_key: dict[bytes | None, list[int]] = {}
    for record in records:
        by_key.setdefault(record.key, []).append(json.loads(record.value or b"")["n"])
    assert all(numbers == sorted(numbers) for numbers in by_key.values())
    assert sorted(number for each in by_key.values() for number in each) == list(range(count))


def test_events_arrive_in_order_and_leave_the_table(penstock: Broker, url: str) -> None:
    penstock.create_topic("orders", partitions=3)
    make(url, shards=2)
    fill(url, "orders", KEYS, 200)
    with begun(url) as connection:
        event = outbox.add(connection, "notes", "k", b"as it is", headers={"trace": "7"})
    with Relay(url, penstock.bootstrap_servers) as relay:
        wait_empty(url)
        assert relay.progress().sent == 201
    check_once_in_order(committed(penstock, "orders"), 200)
    [note] = committed(penstock, "notes")
    assert (note.key, note.value) == (b"k", b"as it is")
    assert note.headers == [("trace", b"7"), (outbox.EVENT_ID, event.encode())]


def test_a_relay_killed_at_any_moment_loses_and_doubles_nothing(penstock: Broker, url: str) -> None:
    penstock.create_topic("orders", partitions=3)
    make(url)
    relay_and_kill(penstock, url, replication=False)


def relay_and_kill(penstock: Broker, url: str, *, replication: bool) -> None:
    """Three relays are killed at work, and a fourth ends it."""
    # So that one that is killed does not hold the others up for long.
    program = "from penstock.client.outbox import Relay; import sys, time\n"
    program += f"options = dict(batch_events_max=20, lease_s=0.3, replication={replication})\n"
    program += "Relay(*sys.argv[1:], **options).start()\ntime.sleep(600)"
    command = [sys.executable, "-c", program, url, penstock.bootstrap_servers]
    total, kills = 0, 0
    while kills < 3:
        fill(url, "orders", KEYS, 300, start=total)
        total += 300
        with subprocess.Popen(command) as process:
            wait_until(lambda: count_rows(url) < 250, "the relay sends nothing")
            process.send_signal(signal.SIGKILL)
            kills += 1
    with Relay(url, penstock.bootstrap_servers, lease_s=1, replication=replication):
        wait_empty(url)
    check_once_in_order(committed(penstock, "orders"), total)


def opened(url: str, servers: str, owner: str) -> tuple[ShardStore, Claim, ShardSender]:
    """A relay's parts, to be left where a crash would leave them."""
    store = ShardStore(open_database(url), owner, LEASE_MS)
    claim = store.claim()
    assert claim is not None
    return store, claim, ShardSender({"bootstrap.servers": servers}, claim.transactional_id)


def free_shards(url: str) -> None:
    """As when the lease of a dead relay has ended."""
    with closing(open_database(url)) as database, database.transaction() as sql:
        sql.execute("update penstock_outbox_shard set lease_until_ms = 0")


@pytest.mark.parametrize("target", TARGETS)
def test_a_relay_that_dies_or_is_taken_over_doubles_nothing(target: str, sqlite_url: str) -> None:
    """It dies before a batch is sent, and after; then it only seems dead, and goes on."""
    servers, topic = bootstrap_servers(target), f"orders-{uuid.uuid4().hex[:8]}"
    make(sqlite_url)
    fill(sqlite_url, topic, KEYS, 30)
    for was_sent in (False, True):
        store, claim, sender = opened(sqlite_url, servers, "dies")
        sent = claim.pending
        if sent is not None and not sender.was_sent(sent):
            sender.send(sent)
        batch = store.advance(claim, sent, 4)
        assert batch is not None
        if was_sent:
            sender.send(batch)
        sender.close()
        free_shards(sqlite_url)
    old_store, old_claim, old_sender = opened(sqlite_url, servers, "slow")
    assert old_claim.pending is not None and old_sender.was_sent(old_claim.pending)
    batch = old_store.advance(old_claim, old_claim.pending, 4)
    assert batch is not None
    free_shards(sqlite_url)
    with Relay(sqlite_url, servers):
        wait_empty(sqlite_url)
        with pytest.raises((KafkaException, DeliveryError)):
            old_sender.send(batch)
        with pytest.raises(ShardLostError):
            old_store.advance(old_claim, batch, 4)
    old_sender.close()
    records = read_records(
        servers, topic, partition=None, start=0, count=None, timeout_s=60, settings=COMMITTED
    )
    check_once_in_order(records, 30)


def test_another_relay_stands_by_and_takes_over(penstock: Broker, sqlite_url: str) -> None:
    make(sqlite_url)
    first = Relay(sqlite_url, penstock.bootstrap_servers)
    first.start()
    wait_until(lambda: first.progress().shards == 1, "no shard is claimed")
    with Relay(sqlite_url, penstock.bootstrap_servers) as second:
        fill(sqlite_url, "orders", KEYS, 20)
        wait_empty(sqlite_url)
        assert (first.progress().sent, second.progress().sent) == (20, 0)
        first.stop()
        fill(sqlite_url, "orders", KEYS, 20, start=20)
        wait_empty(sqlite_url)
        assert (first.progress().sent, second.progress().sent) == (20, 20)
    check_once_in_order(committed(penstock, "orders"), 40)


def test_an_event_that_can_never_be_sent_is_set_aside(penstock: Broker, sqlite_url: str) -> None:
    penstock.create_topic("orders", config={"max.message.bytes": 2000})
    make(sqlite_url)
    fill(sqlite_url, "orders", KEYS, 5)
    with begun(sqlite_url) as connection:
        large = outbox.add(connection, "orders", "large", bytes(range(256)) * 40)
    fill(sqlite_url, "orders", KEYS, 5, start=5)
    with Relay(sqlite_url, penstock.bootstrap_servers, kafka={"compression.type": "none"}) as relay:
        wait_empty(sqlite_url)
        assert relay.progress().set_aside == 1
    [(event, error)] = rows(sqlite_url, "select event_id, error from penstock_outbox")
    assert event == large and "large" in error.lower()
    check_once_in_order(committed(penstock, "orders"), 10)


def test_an_event_of_a_time_that_its_topic_does_not_take_is_set_aside(
    penstock: Broker, sqlite_url: str
) -> None:
    """It would be refused however often it is sent; the others of its batch are not held up."""
    penstock.create_topic("orders", config={"message.timestamp.before.max.ms": 3_600_000})
    make(sqlite_url)
    fill(sqlite_url, "orders", KEYS, 5)
    with begun(sqlite_url) as connection:
        old = outbox.add(connection, "orders", "old", {"n": -1})
        connection.execute("update penstock_outbox set created_ms = 1 where event_id = ?", (old,))
    fill(sqlite_url, "orders", KEYS, 5, start=5)
    with Relay(sqlite_url, penstock.bootstrap_servers) as relay:
        wait_empty(sqlite_url)
        assert relay.progress().set_aside == 1
    [(event, error)] = rows(sqlite_url, "select event_id, error from penstock_outbox")
    assert event == old and "timestamp" in error.lower()
    check_once_in_order(committed(penstock, "orders"), 10)


def test_a_broker_that_is_away_is_waited_for(penstock: Broker, sqlite_url: str) -> None:
    make(sqlite_url)
    with Relay(sqlite_url, penstock.bootstrap_servers):
        fill(sqlite_url, "orders", KEYS, 50)
        wait_empty(sqlite_url)
        penstock.kill()
        fill(sqlite_url, "orders", KEYS, 50, start=50)
        penstock.start()
        wait_empty(sqlite_url)
    check_once_in_order(committed(penstock, "orders"), 100)


def test_a_relay_that_never_found_a_broker_gives_its_shard_back(sqlite_url: str) -> None:
    """Told to end, it does not wait for the broker any longer."""
    make(sqlite_url)
    with Relay(sqlite_url, "127.0.0.1:1") as relay:
        wait_until(lambda: relay.progress().shards == 1, "no shard is claimed")
    assert rows(sqlite_url, "select owner, lease_until_ms from penstock_outbox_shard") == [
        (None, 0)
    ]


def test_its_note_is_no_lag(penstock: Broker, sqlite_url: str) -> None:
    """The group that the relay commits in reads nothing: no monitor is to find it behind."""
    make(sqlite_url)
    fill(sqlite_url, "orders", KEYS, 50)
    with Relay(sqlite_url, penstock.bootstrap_servers, batch_events_max=10):
        wait_empty(sqlite_url)
    admin = AdminClient({"bootstrap.servers": penstock.bootstrap_servers})
    groups = [each.group_id for each in admin.list_consumer_groups().result(30).valid]
    (group,) = (each for each in groups if each.startswith("penstock.outbox."))
    (answer,) = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
    ends = len(penstock.read("orders"))
    assert all(each.offset > ends for each in answer.result(30).topic_partitions)
