"""The headers of an event that became a dead letter. Writes nothing."""

from __future__ import annotations

from typing import Any

from penstock.pipelines.keyed.event import Headers
from penstock.pipelines.retry import Failure
from penstock.pipelines.transforms import dead_letter as name


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
    kept = [(key, value) for key, value in original if key not in name.OF_THIS_FAILURE]
    said: dict[str, Any] = {
        name.TOPIC: topic,
        name.PARTITION: partition,
        name.OFFSET: offset,
        name.TIMESTAMP: timestamp_ms,
        name.ERROR: type(failure.error).__name__,
        name.MESSAGE: str(failure.error),
        name.ATTEMPT: _attempts_before(original) + failure.tries,
        name.PIPELINE: pipeline,
        name.CLASS: failure.kind,
    }
    rule = getattr(failure.error, "rule", None)
    if rule is not None:
        said[name.RULE] = rule
    return kept + [(key, str(value).encode()) for key, value in said.items()]


def _attempts_before(headers: Headers) -> int:
    values = [value for key, value in headers if key == name.ATTEMPT]
    try:
        return int(values[-1] or 0) if values else 0
    except ValueError:
        return 0
