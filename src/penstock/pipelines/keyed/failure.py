"""The headers of an event that became a dead letter. Writes nothing."""

from __future__ import annotations

from penstock.client.dead_letter import failure_headers
from penstock.pipelines.keyed.event import Headers
from penstock.pipelines.retry import Failure


def dead_letter_headers(
    original: Headers,
    failure: Failure,
    *,
    pipeline: str,
    topic: str,
    partition: int,
    offset: int,
    timestamp_ms: int,
) -> Headers:
    """The record's own headers, and those that say where it stood and why it is here."""
    return failure_headers(
        original,
        failure.error,
        kind=failure.kind,
        tries=failure.tries,
        pipeline=pipeline,
        topic=topic,
        partition=partition,
        offset=offset,
        timestamp_ms=timestamp_ms,
    )
