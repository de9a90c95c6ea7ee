"""How an API asks the machine of a transactional id."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer
from penstock.handlers.coordinator_call import answer_of_host, ask_host
from penstock.machine.decision import Decision
from penstock.metadata.partition import NO_LEADER
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import TopicPartition
from penstock.transaction import (
    Addition,
    AdditionResult,
    TransactionRecord,
    TransactionShard,
)

ResponseT = TypeVar("ResponseT")

PRODUCER_ID_WAIT_S = 1.0
"""Longer than a controller takes that is there."""


async def ask(
    broker: Broker,
    transactional_id: str,
    decide: Callable[[TransactionShard, int], Decision[TransactionRecord, ResponseT]],
    refuse: Callable[[ErrorCode], ResponseT],
) -> ResponseT:
    if not transactional_id:
        # No node coordinates it: any of them says so.
        return refuse(ErrorCode.INVALID_REQUEST)
    await _wait_producer_id(broker)
    return await ask_host(
        broker.transactions,
        transactional_id,
        lambda shard: decide(shard, broker.clock.now_ms()),
        refuse,
    )


async def _wait_producer_id(broker: Broker) -> None:
    """Any decision may find an epoch used up, and then needs a new id at once. Most do not: they
    have no reason to wait for a controller that is away, and the others are told to ask again."""
    if not broker.producer_ids.is_available:
        with suppress(ApiError, TimeoutError):
            async with asyncio.timeout(PRODUCER_ID_WAIT_S):
                await broker.producer_ids.wait_available()


def answer(
    broker: Broker,
    transactional_id: str,
    decide: Callable[[TransactionShard, int], Decision[TransactionRecord, ResponseT]],
    refuse: Callable[[ErrorCode], ResponseT],
) -> Answer:
    """What a handler hands to the router as it is."""
    if not transactional_id or not broker.producer_ids.is_available:
        return ask(broker, transactional_id, decide, refuse)
    return answer_of_host(broker.transactions, transactional_id, decide, refuse, broker.clock)


async def add_partitions(
    broker: Broker, addition: Addition, *, wait: bool = True
) -> AdditionResult:
    """Partitions join their transaction, whose coordinator is here; with `verify_only` they are
    only looked for. `wait` for the end of the producer's last transaction."""
    if wait:
        await broker.transactions.wait_completed(addition.transactional_id)
    return await ask(
        broker,
        addition.transactional_id,
        lambda shard, now_ms: shard.decide_add_partitions(addition, now_ms),
        lambda code: dict.fromkeys(addition.partitions, code),
    )


async def join_transaction(broker: Broker, addition: Addition) -> AdditionResult:
    """The same for a broker that is about to write for a transaction, wherever that has its
    coordinator."""
    node_id = broker.transactions.coordinator_of(addition.transactional_id)
    if node_id is None or node_id == broker.node_id:
        return await add_partitions(broker, addition)
    if node_id == NO_LEADER:
        return dict.fromkeys(addition.partitions, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    additions = broker.transaction_peers.additions
    if addition.verify_only:
        return await additions.send(node_id, addition)
    config = broker.config
    return await additions.send_patiently(
        node_id,
        addition,
        int(config.get("add.partitions.to.txn.retry.backoff.ms")) / 1000,
        int(config.get("add.partitions.to.txn.retry.backoff.max.ms")) / 1000,
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
