"""The form of a dead letter: the record as it came, and headers that say where and why.

Everything that writes or reads dead letters takes the names from here.
"""

from __future__ import annotations

from typing import Final

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
CLASS: Final = "penstock.dlq.class"
REDRIVEN: Final = "penstock.dlq.redriven"
"""How many times it was sent back."""
HISTORY: Final = "penstock.dlq.history"
"""JSON list of earlier failures: error, message, attempt, time (ms)."""

POISON: Final = "poison"
TRANSIENT: Final = "transient"

OF_THIS_FAILURE: Final = (
    TOPIC, PARTITION, OFFSET, TIMESTAMP, ERROR, MESSAGE, ATTEMPT, PIPELINE, CLASS,
)  # fmt: skip
"""What a failure writes, replacing what an earlier one wrote; REDRIVEN and HISTORY stay."""


def dead_letter_topic(pipeline: str) -> str:
    return f"{pipeline}.dead-letters"


def late_topic(pipeline: str) -> str:
    return f"{pipeline}.late"
