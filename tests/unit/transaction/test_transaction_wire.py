"""Records through their bytes, loads that skip, and the two forms of AddPartitionsToTxn."""

from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.error import ErrorCode, InvariantError, ProtocolError
from penstock.model.id import TopicPartition
from penstock.protocol.codec import decode, encode
from penstock.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from penstock.transaction import (
    Addition,
    RawRecord,
    TransactionConfig,
    TransactionRecord,
    TransactionShard,
    additions,
    additions_response,
    decode_record,
    encode_record,
    last_of_each_key,
)
from penstock.transaction.record import record_of, transaction_of
from penstock.transaction.state import TransactionState
from penstock.transaction.transaction import Transaction

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
ONGOING = Transaction(
    "a",
    7,
    3,
    previous_producer_id=6,
    next_producer_id=8,
    timeout_ms=60_000,
    state=TransactionState.ONGOING,
    partitions=frozenset({T0, T1, U0}),
    start_ms=11,
    update_ms=12,
    client_version=2,
)
EMPTY = Transaction("a", 7, 3, previous_producer_id=7, timeout_ms=60_000, update_ms=12)


@pytest.mark.parametrize("transaction", [ONGOING, EMPTY])
def test_round_trip(transaction: Transaction) -> None:
    record = record_of(transaction, 1)
    data = encode_record(record)
    assert decode_record(data.key, data.value) == record
    assert record.value is not None
    assert transaction_of("a", record.value) == transaction


def test_bytes_are_kafkas() -> None:
    data = encode_record(record_of(EMPTY, 0))
    assert data.key == b"\0\0\0\1a"
    head = pack(">hqhibi", 0, 7, 3, 60_000, 0, -1)
    assert data.value == head + pack(">qq", 12, -1)
    flexible = encode_record(record_of(ONGOING, 1)).value
    assert flexible is not None
    assert flexible[:2] == b"\0\1"
    topics = b"\3" + b"\2t\3" + pack(">ii", 0, 1) + b"\0" + b"\2u\2" + pack(">i", 0) + b"\0"
    body = pack(">qhib", 7, 3, 60_000, 1) + topics + pack(">qq", 12, 11)
    tags = b"\3" + b"\0\10" + pack(">q", 6) + b"\1\10" + pack(">q", 8) + b"\2\2" + pack(">h", 2)
    assert flexible[2:] == body + tags


def test_the_old_form_holds_what_it_can() -> None:
    record = record_of(ONGOING, 0)
    data = encode_record(record)
    assert decode_record(data.key, data.value) == record
    assert record.value is not None
    stored = transaction_of("a", record.value)
    assert (stored.identity, stored.partitions) == (ONGOING.identity, ONGOING.partitions)
    assert (stored.previous_producer_id, stored.next_producer_id, stored.client_version) == (
        -1,
        -1,
        0,
    )


def test_tombstones() -> None:
    record = TransactionRecord("a", None)
    assert encode_record(record) == (b"\0\0\0\1a", None)
    assert decode_record(b"\0\0\0\1a", None) == record
    assert record_of(EMPTY.expired(), 1) == record


@pytest.mark.parametrize("key", [b"\0\3\0\1g", b"\x7f\0whatever"])
def test_unknown_records_are_skipped(key: bytes) -> None:
    assert decode_record(key, b"\0\0anything") is None


@pytest.mark.parametrize("key", [b"", b"\0", b"\0\0\0\5g"])
def test_a_broken_key_is_an_error(key: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_record(key, b"\0\0anything")


def test_a_broken_value_is_an_error() -> None:
    data = encode_record(record_of(ONGOING, 1))
    assert data.value is not None
    with pytest.raises(ProtocolError):
        decode_record(data.key, data.value[:-1])
    record = record_of(EMPTY, 1)
    assert record.value is not None
    record.value.transaction_status = 9
    shard = TransactionShard(TransactionConfig(), lambda: None)
    with pytest.raises(InvariantError):
        shard.replay(record, 0)


ids = st.sampled_from(["a", "b", "c"])
transactions = st.builds(
    Transaction,
    ids,
    st.integers(1, 3),
    st.integers(0, 5),
    state=st.sampled_from([TransactionState.ONGOING, TransactionState.COMPLETE_ABORT]),
    partitions=st.frozensets(st.sampled_from([T0, T1, U0])),
)
records = st.one_of(
    st.builds(record_of, transactions, st.sampled_from([0, 1])),
    st.builds(TransactionRecord, ids, st.none()),
)


@given(st.lists(records, max_size=20))
def test_the_last_of_each_key_says_all(log: list[TransactionRecord]) -> None:
    whole = TransactionShard(TransactionConfig(), lambda: None)
    raw = []
    for offset, record in enumerate(log):
        whole.replay(record, offset)
        raw.append(RawRecord(offset, *encode_record(record)))
    short = TransactionShard(TransactionConfig(), lambda: None)
    for offset, record in last_of_each_key(iter(raw), unexpected):
        short.replay(record, offset)
    assert sorted(short.register, key=repr) == sorted(whole.register, key=repr)


def unexpected(offset: int, key: bytes, why: object) -> None:
    raise AssertionError(f"the record at {offset} was passed over: {why}")


def test_what_cannot_be_read_leaves_the_one_before() -> None:
    good = RawRecord(0, *encode_record(record_of(EMPTY, 1)))
    assert good.value is not None
    unknown = RawRecord(2, b"\x00\x09" + good.key[2:], good.value)
    log = [good, RawRecord(1, good.key, good.value[:-3]), unknown]
    passed: list[tuple[int, bool]] = []

    def note(offset: int, key: bytes, why: object) -> None:
        passed.append((offset, why is None))

    assert list(last_of_each_key(log, note)) == []
    assert passed == [(1, False), (2, True)]
    ((offset, _),) = last_of_each_key(log, note, {good.key})
    assert offset == 0


def test_additions_of_a_client() -> None:
    topics = [AddPartitionsToTxnTopic(name="t", partitions=[0, 1])]
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="a",
        v3_and_below_producer_id=7,
        v3_and_below_producer_epoch=1,
        v3_and_below_topics=topics,
    )
    for version in (0, 3):
        read, _ = decode(AddPartitionsToTxnRequest, version, encode(request, version))
        assert additions(read, version) == [Addition("a", 7, 1, (T0, T1), False, 0)]


def test_additions_of_a_broker() -> None:
    transactions = [
        AddPartitionsToTxnTransaction(
            transactional_id=name,
            producer_id=7,
            producer_epoch=1,
            verify_only=name == "b",
            topics=[AddPartitionsToTxnTopic(name="t", partitions=[0])],
        )
        for name in ("a", "b")
    ]
    request = AddPartitionsToTxnRequest(transactions=transactions)
    for version in (4, 5):
        read, _ = decode(AddPartitionsToTxnRequest, version, encode(request, version))
        assert additions(read, version) == [
            Addition("a", 7, 1, (T0,), False, 2),
            Addition("b", 7, 1, (T0,), True, 2),
        ]


@pytest.mark.parametrize("version", range(6))
def test_results(version: int) -> None:
    result = {T0: ErrorCode.NONE, U0: ErrorCode.PRODUCER_FENCED, T1: ErrorCode.NONE}
    response = additions_response([("a", result)], version)
    read, _ = decode(AddPartitionsToTxnResponse, version, encode(response, version))
    topics = read.results_by_topic_v3_and_below
    if version >= 4:
        assert [one.transactional_id for one in read.results_by_transaction] == ["a"]
        topics = read.results_by_transaction[0].topic_results
    fenced = ErrorCode.INVALID_PRODUCER_EPOCH if version < 2 else ErrorCode.PRODUCER_FENCED
    assert {
        (topic.name, one.partition_index): one.partition_error_code
        for topic in topics
        for one in topic.results_by_partition
    } == {("t", 0): 0, ("t", 1): 0, ("u", 0): fenced}
