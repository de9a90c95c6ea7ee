"""Framing of metadata and coordinator records, and the generator's output."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.error import ProtocolError
from penstock.protocol import record_table
from penstock.protocol.messages.records.offset_commit import OffsetCommitKey, OffsetCommitValue
from penstock.protocol.messages.records.topic_record import TopicRecord
from penstock.protocol.messages.records.transaction_log import TransactionLogKey
from penstock.protocol.record_frame import (
    CoordinatorLog,
    decode_coordinator_key,
    decode_coordinator_value,
    decode_metadata_record,
    encode_coordinator_key,
    encode_coordinator_value,
    encode_metadata_record,
)
from tests.wire.test_wire_round_trip import quick
from tests.wire.wire_strategy import entities

REPO = Path(__file__).resolve().parents[2]


def test_metadata_record_golden_bytes() -> None:
    record = TopicRecord(name="foo", topic_id=bytes(range(16)))
    data = bytes.fromhex("01 02 00 04 666f6f") + bytes(range(16)) + b"\0"
    assert encode_metadata_record(record) == data
    assert decode_metadata_record(data) == record


@quick
@given(st.data())
def test_every_metadata_record_comes_back(data: st.DataObject) -> None:
    for row in record_table.METADATA:
        version = data.draw(st.integers(row.min_version, row.max_version))
        record = data.draw(entities(row.entity(), version))
        assert decode_metadata_record(encode_metadata_record(record, version)) == record


@pytest.mark.parametrize(
    "data", ["", "01", "0102", "02 02 00 00", "01 7f 00", "01 02 63", "01 14 00 00 00"]
)
def test_metadata_record_that_makes_no_sense(data: str) -> None:
    with pytest.raises(ProtocolError):
        decode_metadata_record(bytes.fromhex(data))


def test_coordinator_golden_bytes() -> None:
    key = OffsetCommitKey(group="g", topic="t", partition=2)
    data = bytes.fromhex("0001 0001 67 0001 74 00000002")
    assert encode_coordinator_key(key) == data
    assert decode_coordinator_key(CoordinatorLog.GROUP, data) == key
    value = OffsetCommitValue(offset=5, metadata="m", commit_timestamp=6)
    data = bytes.fromhex("0003 0000000000000005 ffffffff 0001 6d 0000000000000006")
    assert encode_coordinator_value(value, 3) == data
    assert decode_coordinator_value(CoordinatorLog.GROUP, key, data) == value
    assert decode_coordinator_value(CoordinatorLog.GROUP, 1, data) == value


def test_each_log_numbers_its_keys() -> None:
    key = TransactionLogKey(transactional_id="x")
    assert decode_coordinator_key(CoordinatorLog.TRANSACTION, encode_coordinator_key(key)) == key


@pytest.mark.parametrize("data", ["", "00", "7fff", "0001", "0001 0001 67 0001 74 00000002 00"])
def test_coordinator_key_that_makes_no_sense(data: str) -> None:
    with pytest.raises(ProtocolError):
        decode_coordinator_key(CoordinatorLog.GROUP, bytes.fromhex(data))


@pytest.mark.parametrize("data", ["", "00", "7fff", "ffff", "0003 00"])
def test_coordinator_value_that_makes_no_sense(data: str) -> None:
    with pytest.raises(ProtocolError):
        decode_coordinator_value(CoordinatorLog.GROUP, 1, bytes.fromhex(data))


def test_keys_and_values_pair_up() -> None:
    for keys, values in (
        (record_table.GROUP_KEYS, record_table.GROUP_VALUES),
        (record_table.TRANSACTION_KEYS, record_table.TRANSACTION_VALUES),
        (record_table.SHARE_KEYS, record_table.SHARE_VALUES),
    ):
        assert [row.number for row in keys] == [row.number for row in values]


@pytest.mark.java
def test_committed_entities_are_what_the_generator_writes() -> None:
    """From the definitions inside Apache Kafka's own jars."""
    command = [sys.executable, "-m", "tools.generate_protocol", "--check"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
