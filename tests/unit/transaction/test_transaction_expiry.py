"""The sweep over many idle ids goes in stretches."""

from __future__ import annotations

from penstock.machine import Decision
from penstock.transaction import TransactionConfig
from penstock.transaction.record import record_of
from penstock.transaction.timer import ExpirationTimer
from penstock.transaction.transaction import Transaction
from tests.transcripts.transaction_world import TransactionWorld


def test_many_ids_are_forgotten_in_stretches() -> None:
    world = TransactionWorld(TransactionConfig(transactional_id_expiration_ms=1000))
    for number in range(4500):
        idle = Transaction(f"id-{number}", number, 0, update_ms=0, timeout_ms=1)
        world.take(Decision((record_of(idle, 1),), None))
    counts = []
    while len(world.shard.register):
        rung = world.ring(10_000_000)
        assert rung is not None
        counts.append(len(rung[1].records))
        assert rung[0] == ExpirationTimer()
    assert counts == [2000, 2000, 500]
    assert world.now_ms == 3_600_002


def test_a_refused_write_is_made_up_for() -> None:
    """The disk was full: the same stretch comes again."""
    world = TransactionWorld(TransactionConfig(transactional_id_expiration_ms=1000))
    world.take(Decision((record_of(Transaction("a", 1, 0, update_ms=0), 1),), None))
    first = world.shard.expire(ExpirationTimer(), 5_000)
    again = world.shard.expire(ExpirationTimer(), 6_000)
    assert [one.transactional_id for one in first.records] == ["a"]
    assert again.records == first.records
