"""The log of a bucket's states: replayed, cleaned, and known again by its head."""

from __future__ import annotations

import random

import pytest

from penstock.pipelines.keyed import store_log
from penstock.pipelines.keyed.store_bucket import Buckets, write
from penstock.pipelines.keyed.store_log import StateLog, UnfitError, decode_entry, encode_entry


class Store:
    """Spark's map of a group, as far as it is used."""

    def __init__(self) -> None:
        self.values: dict[int, bytes] = {}
        self.read = 0

    def getValue(self, userKey: tuple[int]) -> tuple[bytes] | None:
        self.read += 1
        found = self.values.get(userKey[0])
        return None if found is None else (found,)

    def updateValue(self, userKey: tuple[int], value: tuple[bytes]) -> None:
        self.values[userKey[0]] = value[0]

    def removeKey(self, userKey: tuple[int]) -> None:
        del self.values[userKey[0]]


def batch(worker: Buckets, store: Store, changed: dict[bytes, bytes | None]) -> StateLog:
    log = worker.take("query", 0, store)
    write(store, log, changed)
    worker.put("query", 0, log)
    return log


def test_an_entry_holds_what_was_put_in() -> None:
    keys, states = [b"", b"a", b"bc"], [b"{}", None, b""]
    assert decode_entry(encode_entry(bytes(16), keys, states)) == (keys, states)


def test_two_workers_and_a_fresh_one_agree_after_any_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store_log, "LOG_RECORDS_MIN", 50)
    monkeypatch.setattr(store_log, "ENTRY_BYTES_MAX", 200)
    chance = random.Random(17)
    store, workers = Store(), [Buckets(), Buckets()]
    expected: dict[bytes, bytes] = {}
    for number in range(400):
        changed: dict[bytes, bytes | None] = {}
        for _ in range(chance.randrange(1, 12)):
            key = b"k%d" % chance.randrange(60)
            changed[key] = b"%d" % number if chance.random() < 0.8 else None
        log = batch(chance.choice(workers), store, changed)
        expected |= {key: state for key, state in changed.items() if state is not None}
        for key in [key for key, state in changed.items() if state is None]:
            expected.pop(key, None)
        assert log.states == expected
    fresh = Buckets().take("query", 0, store)
    assert fresh.states == expected
    assert fresh.head == log.head
    # It is cleaned as it grows: about twice the states, and some.
    assert sum(len(decode_entry(each)[0]) for at, each in store.values.items() if at >= 0) < 250
    assert set(fresh._entry_of) == set(log._entry_of)


def test_the_store_is_read_only_for_what_this_worker_does_not_know() -> None:
    store, one, other = Store(), Buckets(), Buckets()
    for number in range(20):
        batch(one, store, {b"k%d" % number: b"1"})
    store.read = 0
    batch(one, store, {b"a": b"1"})
    assert store.read == 1  # the head
    batch(other, store, {b"b": b"1"})
    store.read = 0
    assert batch(one, store, {b"c": b"1"}).states[b"b"] == b"1"
    assert store.read == 2  # the head, and what the other one wrote


def test_a_batch_that_is_worked_on_again_forgets_the_attempt_before() -> None:
    store, worker = Store(), Buckets()
    batch(worker, store, {b"a": b"1"})
    before = dict(store.values)
    batch(worker, store, {b"a": b"2", b"lost": b"1"})
    store.values = dict(before)
    assert batch(worker, store, {b"b": b"3"}).states == {b"a": b"1", b"b": b"3"}
    # The same once more, with as many entries as the attempt that came to nothing.
    batch(worker, store, {b"lost": b"2"})
    store.values = dict(before)
    other = Buckets()
    batch(other, store, {b"c": b"4"})
    batch(other, store, {b"c": b"5"})
    batch(other, store, {b"c": b"6"})
    assert batch(worker, store, {b"b": b"7"}).states == {b"a": b"1", b"b": b"7", b"c": b"6"}


def test_two_attempts_that_come_to_the_same_are_the_same() -> None:
    heads = set()
    for _ in range(2):
        store, worker = Store(), Buckets()
        batch(worker, store, {b"a": b"1"})
        heads.add(batch(worker, store, {b"b": b"2"}).head)
    assert len(heads) == 1


def test_a_log_of_two_histories_is_refused() -> None:
    store, other = Store(), Store()
    worker = Buckets()
    for number in range(3):
        batch(worker, store, {b"a": b"%d" % number})
    worker = Buckets()
    for number in range(3):
        batch(worker, other, {b"b": b"%d" % number})
    store.values[1] = other.values[1]
    with pytest.raises(UnfitError, match="does not fit together"):
        Buckets().take("query", 0, store)
    del store.values[1]
    with pytest.raises(UnfitError, match="entry 1 is missing"):
        Buckets().take("query", 0, store)
