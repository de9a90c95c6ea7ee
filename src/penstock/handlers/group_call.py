"""How an API asks the machine of a group."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from penstock.group import Caller, GroupEntry, GroupShard
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.coordinator_call import answer_of_host, ask_host
from penstock.machine.decision import Decision
from penstock.model.error import ErrorCode

ResponseT = TypeVar("ResponseT")

# A named tuple straight from a tuple: half the cost of calling the class.
_as_caller = tuple.__new__


def caller_of(call: Call) -> Caller:
    client, access = call.client, call.client.access
    may_describe = None if access is None else access.may_describe_topic
    return _as_caller(Caller, (call.version, client.client_id or "", client.host, may_describe))


async def ask(
    broker: Broker,
    group_id: str,
    decide: Callable[[GroupShard, int], Decision[GroupEntry, ResponseT]],
    refuse: Callable[[ErrorCode], ResponseT],
) -> ResponseT:
    return await ask_host(
        broker.groups, group_id, lambda shard: decide(shard, broker.clock.now_ms()), refuse
    )


def answer(
    broker: Broker,
    group_id: str,
    decide: Callable[[GroupShard, int], Decision[GroupEntry, ResponseT]],
    refuse: Callable[[ErrorCode], ResponseT],
    nameless: ErrorCode | ResponseT | None = None,
) -> Answer:
    """What a handler hands to the router as it is. `nameless` is for a group without a name, where
    there is none: no node coordinates it, so that any of them says so."""
    if nameless is not None and not group_id:
        return refuse(nameless) if isinstance(nameless, ErrorCode) else nameless
    return answer_of_host(broker.groups, group_id, decide, refuse, broker.clock)


def nameless_message(member_id: str) -> str:
    """What a heartbeat of the newer protocols is told that names no group, and maybe no member."""
    return f"{'GroupId' if member_id else 'MemberId'} can't be empty."
