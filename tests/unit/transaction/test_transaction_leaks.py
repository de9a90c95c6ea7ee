"""Foreign ids, wrong epochs and requests out of order leave no transaction, timer or record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.machine import Decision
from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from penstock.protocol.messages.end_txn import EndTxnRequest
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.transaction import Addition, TransactionConfig, TransactionRecord
from tests.transcripts.transaction_world import TransactionWorld

ROUNDS = 2_000
T0 = TopicPartition("t", 0)
OFFSETS = TopicPartition("__consumer_offsets", 3)


def open_world() -> tuple[TransactionWorld, int, int]:
    """An open transaction of `a`; its producer id and epoch."""
    world = TransactionWorld(TransactionConfig())
    request = InitProducerIdRequest(transactional_id="a", transaction_timeout_ms=60_000)
    begun = world.shard.decide_init_producer_id(request, 5, world.now_ms)
    world.take(begun)
    assert begun.reply.error_code == 0  # type: ignore[union-attr]
    identity = (begun.reply.producer_id, begun.reply.producer_epoch)  # type: ignore[union-attr]
    world.take(world.shard.decide_add_partitions(Addition("a", *identity, (T0,)), world.now_ms))
    return world, *identity


def refused(
    world: TransactionWorld, producer_id: int, epoch: int, number: int
) -> Iterator[Decision[TransactionRecord, Any]]:
    """A stranger's id, and the right id with another producer or another epoch."""
    shard, now_ms = world.shard, world.now_ms
    for name, some_id, some_epoch in (
        (f"foreign-{number}", producer_id, epoch),
        ("a", producer_id + 1 + number, epoch),
        ("a", producer_id, epoch + 1),
        ("a", producer_id, epoch - 1),
    ):
        yield shard.decide_add_partitions(Addition(name, some_id, some_epoch, (T0,)), now_ms)
        offsets = AddOffsetsToTxnRequest(
            transactional_id=name,
            producer_id=some_id,
            producer_epoch=some_epoch,
            group_id=f"group-{number}",
        )
        yield shard.decide_add_offsets(offsets, 4, OFFSETS, now_ms)
        for committed in (True, False):
            end = EndTxnRequest(
                transactional_id=name,
                producer_id=some_id,
                producer_epoch=some_epoch,
                committed=committed,
            )
            yield shard.decide_end(end, 5, now_ms)
    too_long = InitProducerIdRequest(
        transactional_id=f"foreign-{number}", transaction_timeout_ms=1 << 30
    )
    yield shard.decide_init_producer_id(too_long, 5, now_ms)
    unnamed = InitProducerIdRequest(transactional_id="", transaction_timeout_ms=1000)
    yield shard.decide_init_producer_id(unnamed, 5, now_ms)


def sizes(world: TransactionWorld) -> dict[str, int]:
    register = world.shard.register
    return {
        "transactions": len(register),
        "unmarked": len(register._unmarked),
        "partitions": sum(len(one.partitions) for one in register),
        "timers": len(world.timers),
        "leftovers of timers": max(0, len(world.timers._heap) - 2 * len(world.timers) - 64),
        "records": len(world.log),
    }


def errors_of(reply: Any) -> set[int]:
    return set(reply.values()) if isinstance(reply, dict) else {reply.error_code}


def test_thousands_of_refused_requests_leave_nothing() -> None:
    world, producer_id, epoch = open_world()
    before = sizes(world)
    for number in range(ROUNDS):
        for decision in refused(world, producer_id, epoch, number):
            assert ErrorCode.NONE not in errors_of(decision.reply)
            assert not decision.records
            world.take(decision)
    assert sizes(world) == before
    end = EndTxnRequest(
        transactional_id="a", producer_id=producer_id, producer_epoch=epoch, committed=True
    )
    reply = world.shard.decide_end(end, 5, world.now_ms).reply
    assert errors_of(reply) == {ErrorCode.NONE}, "the transaction was not disturbed"
