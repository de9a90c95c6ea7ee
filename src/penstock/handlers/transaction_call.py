"""How an API asks the machine of a transactional id."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer
from penstock.handlers.coordinator_call import answer_of_host, ask_host
from penstock.machine.decision import Decision
from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.transaction import (
    Addition,
    AdditionResult,
    TransactionRecord,
    TransactionShard,
)

ResponseT = TypeVar("ResponseT")


async def ask(
    broker: Broker,
    transactional_id: str,
    decide: Callable[[TransactionShard, int], Decision[TransactionRecord, ResponseT]],
    refuse: Callable[[ErrorCode], ResponseT],
) -> ResponseT:
    if not broker.producer_ids.is_available:
        # Any decision may find an epoch used up, and then needs a new id at once.
        await broker.producer_ids.wait_available()
    return await ask_host(
        broker.transactions,
        transactional_id,
        lambda shard: decide(shard, broker.clock.now_ms()),
        refuse,
    )


def answer(
    broker: Broker,
    transactional_id: str,
    decide: Callable[[TransactionShard, int], Decision[TransactionRecord, ResponseT]],
    refuse: Callable[[ErrorCode], ResponseT],
) -> Answer:
    """What a handler hands to the router as it is."""
    if not broker.producer_ids.is_available:
        return ask(broker, transactional_id, decide, refuse)
    return answer_of_host(broker.transactions, transactional_id, decide, refuse, broker.clock)


async def add_partitions(broker: Broker, addition: Addition) -> AdditionResult:
    """Partitions join their transaction; with `verify_only` they are only looked for."""
    await broker.transactions.wait_completed(addition.transactional_id)
    return await ask(
        broker,
        addition.transactional_id,
        lambda shard, now_ms: shard.decide_add_partitions(addition, now_ms),
        lambda code: dict.fromkeys(addition.partitions, code),
    )


def known_partitions(
    broker: Broker, partitions: Sequence[TopicPartition]
) -> tuple[list[TopicPartition], list[TopicPartition]]:
    """Those that exist, and those that do not."""
    known: list[TopicPartition] = []
    unknown: list[TopicPartition] = []
    for one in partitions:
        exists = broker.image.topics.partition(*one) is not None
        (known if exists else unknown).append(one)
    return known, unknown
