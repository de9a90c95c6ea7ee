"""Transactions: records."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from penstock.model.error import ErrorCode
from tests.conformance.clients.record import BrokerError, Client, Record, numbered, read
from tests.conformance.clients.transaction_set import TransactionSet
from tests.conformance.clients.transactor import FencedError
from tests.conformance.conftest import CLIENTS, Cluster
from tests.patience import wait_until

MakeTopic = Callable[..., str]
A_WHILE_S = 0.4

with_codecs = pytest.mark.parametrize(
    ("client", "codec"),
    [(kind.name, codec) for kind in CLIENTS.values() for codec in kind.codecs],
    indirect=["client"],
)


@pytest.fixture
def transactions(cluster: Cluster) -> Iterator[TransactionSet]:
    transactions = TransactionSet(cluster.bootstrap_servers)
    yield transactions
    transactions.close()


def some(name: str, count: int = 3, partition: int = 0) -> list[Record]:
    return [Record(f"{name}-{n}".encode(), partition=partition) for n in range(count)]


def values(records: list[Record]) -> list[bytes | None]:
    return [record.value for record in records]


def committed_values(
    client: Client, topic: str, count: int, **options: object
) -> list[bytes | None]:
    return values(read(client, topic, count, committed_only=True, **options))


def wait_committed(client: Client, topic: str, expected: list[Record]) -> None:
    """What read_committed sees is this, from the beginning on, and the last comes in the end."""
    with client.open_reader(topic, committed_only=True) as reader:
        assert values(reader.take(len(expected))) == values(expected)


@pytest.mark.feature("Committed records are there for read_committed, not before")
def test_commit(client: Client, transactions: TransactionSet, topic: str) -> None:
    producer = transactions.start(client.name, topic)
    producer.begin()
    producer.send(topic, some("a"))
    with client.open_reader(topic, committed_only=True) as reader:
        assert values(read(client, topic, 3)) == values(some("a"))
        assert reader.take(1, A_WHILE_S) == []
        producer.commit()
        seen = reader.take(3)
    assert [(r.value, r.offset) for r in seen] == [(b"a-0", 0), (b"a-1", 1), (b"a-2", 2)]
    # The marker takes an offset of its own.
    wait_until(lambda: client.bounds(topic) == (0, 4))


@pytest.mark.feature("Aborted records are never there for read_committed")
def test_abort(client: Client, transactions: TransactionSet, topic: str) -> None:
    producer = transactions.start(client.name, topic)
    for name, end in (("a", producer.abort), ("b", producer.commit), ("c", producer.abort)):
        producer.begin()
        producer.send(topic, some(name))
        end()
    producer.begin()
    producer.send(topic, some("d", 1))
    producer.commit()
    wait_committed(client, topic, some("b") + some("d", 1))
    everything = some("a") + some("b") + some("c") + some("d", 1)
    assert values(read(client, topic, 10)) == values(everything)


@pytest.mark.feature("An open transaction holds back all that follows it, until it ends")
@pytest.mark.parametrize("commit", [True, False], ids=["commit", "abort"])
def test_last_stable_offset(
    client: Client, transactions: TransactionSet, topic: str, commit: bool
) -> None:
    client.produce(topic, some("before"))
    producer = transactions.start(client.name, topic)
    producer.begin()
    producer.send(topic, some("inside"))
    client.produce(topic, some("after"))
    with client.open_reader(topic, committed_only=True) as reader:
        assert values(reader.take(3)) == values(some("before"))
        assert reader.take(1, A_WHILE_S) == []
        (producer.commit if commit else producer.abort)()
        expected = (some("inside") if commit else []) + some("after")
        assert values(reader.take(len(expected))) == values(expected)


@pytest.mark.feature("Transactions of several producers mixed in one partition")
def test_interleaved(client: Client, transactions: TransactionSet, topic: str) -> None:
    first, second = (transactions.start(client.name, f"{topic}-{n}") for n in range(2))
    first.begin()
    second.begin()
    for turn in range(3):
        first.send(topic, some(f"first-{turn}", 1))
        second.send(topic, some(f"second-{turn}", 1))
        client.produce(topic, some(f"plain-{turn}", 1))
    second.commit()
    assert read_nothing(client, topic)
    first.abort()
    kept = [name for turn in range(3) for name in (f"second-{turn}-0", f"plain-{turn}-0")]
    assert committed_values(client, topic, 6) == [name.encode() for name in kept]


def read_nothing(client: Client, topic: str) -> bool:
    with client.open_reader(topic, committed_only=True) as reader:
        return reader.take(1, A_WHILE_S) == []


@pytest.mark.feature("One transaction over several partitions and topics")
def test_many_partitions(
    client: Client, transactions: TransactionSet, make_topic: MakeTopic
) -> None:
    wide, narrow = make_topic(3), make_topic()
    producer = transactions.start(client.name, wide)
    for name, end in (("a", producer.abort), ("b", producer.commit)):
        producer.begin()
        producer.send(wide, [r for p in range(3) for r in some(name, partition=p)])
        producer.send(narrow, some(name))
        end()
    for partition in range(3):
        where = {"partitions": (partition,)}
        assert committed_values(client, wide, 3, **where) == values(some("b"))
    assert committed_values(client, narrow, 3) == values(some("b"))


@pytest.mark.feature("Transactions without records")
def test_empty(client: Client, transactions: TransactionSet, topic: str) -> None:
    producer = transactions.start(client.name, topic)
    for end in (producer.commit, producer.abort, producer.commit):
        producer.begin()
        end()
    assert client.bounds(topic) == (0, 0)
    producer.begin()
    producer.send(topic, some("a"))
    producer.commit()
    wait_committed(client, topic, some("a"))


@pytest.mark.feature("Many transactions, one after the other, and the order of their records")
def test_many(client: Client, transactions: TransactionSet, make_topic: MakeTopic) -> None:
    topic = make_topic(2)
    producer = transactions.start(client.name, topic)
    for turn in range(40):
        producer.begin()
        producer.send(topic, some(f"{turn}", 2, partition=turn % 2))
        (producer.abort if turn % 5 == 4 else producer.commit)()
    for partition in range(2):
        kept = [t for t in range(40) if t % 2 == partition and t % 5 != 4]
        expected = [record for turn in kept for record in some(f"{turn}", 2)]
        found = committed_values(client, topic, len(expected), partitions=(partition,))
        assert found == values(expected)


@pytest.mark.feature("Transactions with each codec")
@with_codecs
def test_codec(client: Client, codec: str, transactions: TransactionSet, topic: str) -> None:
    producer = transactions.start(client.name, topic, codec=codec)
    producer.begin()
    producer.send(topic, some("aborted", 20))
    producer.abort()
    producer.begin()
    producer.send(topic, numbered(50))
    producer.commit()
    seen = read(client, topic, 50, committed_only=True)
    assert [r.content() for r in seen] == [r.content() for r in numbered(50)]


# --- one producer after the other ---


@pytest.mark.feature("A second instance aborts what the first left open, and fences it")
def test_fencing(client: Client, transactions: TransactionSet, topic: str) -> None:
    first = transactions.start(client.name, topic)
    first.begin()
    first.send(topic, some("first"))
    second = transactions.start(client.name, topic)
    second.begin()
    second.send(topic, some("second"))
    with pytest.raises(FencedError):
        first.commit()
    second.commit()
    wait_committed(client, topic, some("second"))


@pytest.mark.feature("A fenced instance can write nothing more")
def test_fenced_write(client: Client, transactions: TransactionSet, topic: str) -> None:
    first = transactions.start(client.name, topic)
    first.begin()
    first.send(topic, some("first"))
    first.commit()
    second = transactions.start(client.name, topic)
    first.begin()
    with pytest.raises(BrokerError):
        first.send(topic, some("late"))
        first.commit()
    second.begin()
    second.send(topic, some("second"))
    second.commit()
    wait_committed(client, topic, some("first") + some("second"))


@pytest.mark.feature("A restarted producer aborts the transaction that was left open")
def test_dangling(client: Client, transactions: TransactionSet, topic: str) -> None:
    first = transactions.start(client.name, topic)
    first.begin()
    first.send(topic, some("lost"))
    transactions.close()
    transactions.start(client.name, topic)
    client.produce(topic, some("plain", 1))
    wait_committed(client, topic, some("plain", 1))


@pytest.mark.feature("A transaction that takes too long is aborted; its producer is told")
def test_timeout(client: Client, transactions: TransactionSet, topic: str) -> None:
    producer = transactions.start(client.name, topic, timeout_ms=1_000)
    producer.begin()
    producer.send(topic, some("late"))
    client.produce(topic, some("plain", 1))
    wait_committed(client, topic, some("plain", 1))
    time.sleep(0.1)
    with pytest.raises(BrokerError):
        producer.commit()
    again = transactions.start(client.name, topic)
    again.begin()
    again.send(topic, some("again"))
    again.commit()
    wait_committed(client, topic, some("plain", 1) + some("again"))


@pytest.mark.feature("A timeout above the broker's limit is refused")
def test_timeout_too_long(client: Client, transactions: TransactionSet, topic: str) -> None:
    with pytest.raises(BrokerError) as refused:
        transactions.start(client.name, topic, timeout_ms=15 * 60_000 + 1)
    assert refused.value.code == ErrorCode.INVALID_TRANSACTION_TIMEOUT
