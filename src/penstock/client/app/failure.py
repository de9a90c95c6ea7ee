"""What a record that failed looks like in a retry topic or among the dead letters. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.client import dead_letter as name
from penstock.client.app.declaration import Declaration
from penstock.client.app.part import Work
from penstock.client.app.retry import DUE_HEADER, STAGE_HEADER, Dead, Later, retry_topic
from penstock.client.dead_letter import AnyHeaders, failure_headers, number_of, text_of
from penstock.client.error import PoisonError
from penstock.client.record import Message, decode_key


class CrashError(PoisonError):
    """The handler ended the whole process, again and again."""


class Origin(NamedTuple):
    """Where a record was read first, whatever retry topics it has been in since."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int


def origin_of(work: Work, headers: AnyHeaders) -> Origin:
    message, part = work.message, work.part
    here = Origin(part.topic, part.partition, work.offset, message.timestamp()[1])
    if part.delay is None:
        return here
    partition = number_of(headers, name.PARTITION)
    offset = number_of(headers, name.OFFSET)
    stamp = number_of(headers, name.TIMESTAMP)
    if partition is None or offset is None or stamp is None:
        return here
    return Origin(text_of(headers, name.TOPIC) or part.origin, partition, offset, stamp)


def name_of(work: Work) -> str:
    """The record as logs name it: where it was at first, and the retry topic that it is in."""
    if work.part.delay is None:
        return str(work)
    origin = origin_of(work, work.message.headers() or [])
    place = f"{origin.topic}-{origin.partition} offset {origin.offset}"
    return f"{place} (retry-{work.part.delay})"


def message_of(work: Work, value: Any) -> Message:
    """The record as the handler sees it: a retry looks as the first time did, but for `attempt`."""
    headers = work.message.headers() or []
    origin = origin_of(work, headers)
    return Message(
        topic=origin.topic,
        partition=origin.partition,
        offset=origin.offset,
        key=decode_key(work.message.key()),
        value=value,
        timestamp=origin.timestamp_ms,
        headers=headers,
        attempt=1 + name.attempts_before(headers) + work.tries,
    )


class Letter(NamedTuple):
    """A record to send because another failed."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: AnyHeaders


def letter_of(
    work: Work, error: BaseException, step: Later | Dead, declared: Declaration, now_ms: int
) -> Letter:
    message = work.message
    original: AnyHeaders = [
        one for one in message.headers() or [] if one[0] not in (DUE_HEADER, STAGE_HEADER)
    ]
    origin = origin_of(work, original)
    dead = declared.dead_letters
    headers = failure_headers(
        original,
        error,
        kind=step.kind if isinstance(step, Dead) else name.TRANSIENT,
        tries=work.tries,
        pipeline=declared.group,
        topic=origin.topic,
        partition=origin.partition,
        offset=origin.offset,
        timestamp_ms=origin.timestamp_ms,
        owner=dead.owner,
    )
    if isinstance(step, Dead):
        return Letter(dead.topic, message.key(), message.value(), headers)
    headers.append((DUE_HEADER, str(now_ms + step.delay_ms).encode()))
    headers.append((STAGE_HEADER, step.delay.encode()))
    topic = retry_topic(declared.group, work.part.origin, step.delay)
    return Letter(topic, message.key(), message.value(), headers)
