"""The form of a dead letter: the record as it came, and headers that say where and why.

Everything that writes or reads dead letters, pipelines as well as applications, takes the names
from here. It builds headers and sends nothing.
"""

from __future__ import annotations

from typing import Any, Final

HEADER_PREFIX: Final = "penstock.dlq."
TOPIC: Final = "penstock.dlq.topic"
PARTITION: Final = "penstock.dlq.partition"
OFFSET: Final = "penstock.dlq.offset"
TIMESTAMP: Final = "penstock.dlq.timestamp"
"""Of the record, in milliseconds."""
ERROR: Final = "penstock.dlq.error"
MESSAGE: Final = "penstock.dlq.message"
ATTEMPT: Final = "penstock.dlq.attempt"
"""1-based: how many times this record has failed here, redrives included."""
PIPELINE: Final = "penstock.dlq.pipeline"
"""The pipeline, or the consumer group of an application."""
CLASS: Final = "penstock.dlq.class"
RULE: Final = "penstock.dlq.rule"
"""The expectation that it failed; only where it was one."""
REDRIVEN: Final = "penstock.dlq.redriven"
"""How many times it was sent back."""
HISTORY: Final = "penstock.dlq.history"
"""JSON list of earlier failures: error, message, attempt, time (ms)."""
OWNER: Final = "penstock.dlq.owner"
"""Who looks after these letters; only where an application says it."""

POISON: Final = "poison"
TRANSIENT: Final = "transient"

OF_THIS_FAILURE: Final = (
    TOPIC, PARTITION, OFFSET, TIMESTAMP, ERROR, MESSAGE, ATTEMPT, PIPELINE, CLASS,
    RULE, OWNER,
)  # fmt: skip
"""What a failure writes, replacing what an earlier one wrote; REDRIVEN and HISTORY stay."""

TOPIC_SUFFIX: Final = ".dead-letters"

ERROR_CHARACTERS_MAX: Final = 4_000
"""What an error may say of itself: with a whole answer or record in it, no broker takes the
letter."""

AnyHeaders = list[tuple[str, str | bytes | None]]


def dead_letter_topic(name: str) -> str:
    """Of a pipeline, or of a consumer group."""
    return name + TOPIC_SUFFIX


def failure_headers(
    original: AnyHeaders,
    error: BaseException,
    *,
    kind: str,
    tries: int,
    pipeline: str,
    topic: str,
    partition: int,
    offset: int,
    timestamp_ms: int,
    owner: str | None = None,
) -> AnyHeaders:
    """The record's own headers, and those that say where it stood and why it is here."""
    kept = [(key, value) for key, value in original if key not in OF_THIS_FAILURE]
    said: dict[str, Any] = {
        TOPIC: topic,
        PARTITION: partition,
        OFFSET: offset,
        TIMESTAMP: timestamp_ms,
        ERROR: type(error).__name__,
        MESSAGE: error_text(error),
        ATTEMPT: attempts_before(original) + tries,
        PIPELINE: pipeline,
        CLASS: kind,
        RULE: getattr(error, "rule", None),
        OWNER: owner,
    }
    return kept + [(key, str(value).encode()) for key, value in said.items() if value is not None]


def error_text(error: BaseException) -> str:
    """What the error says; also of one that cannot say it, or says too much."""
    try:
        text = str(error)
    except Exception:
        text = "(says nothing: its str() failed)"
    return text if len(text) <= ERROR_CHARACTERS_MAX else text[: ERROR_CHARACTERS_MAX - 1] + "…"


def attempts_before(headers: AnyHeaders) -> int:
    return number_of(headers, ATTEMPT) or 0


def number_of(headers: AnyHeaders, name: str) -> int | None:
    """The last header of this name, if it is a number."""
    text = text_of(headers, name)
    return int(text) if text is not None and text.lstrip("-").isdecimal() else None


def text_of(headers: AnyHeaders, name: str) -> str | None:
    values = [value for key, value in headers if key == name and value is not None]
    if not values:
        return None
    last = values[-1]
    return last if isinstance(last, str) else last.decode(errors="replace")
