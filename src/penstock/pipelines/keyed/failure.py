"""What becomes of an event whose step fails: tried again, or a dead letter. Writes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from penstock.pipelines.error import TransientError
from penstock.pipelines.keyed.event import Headers
from penstock.pipelines.transforms import dead_letter as name

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a transient failure is tried again, and how long it waits before each time."""

    attempts_max: int = 5
    backoff_s: float = 0.1
    backoff_max_s: float = 2.0

    def waits(self) -> Iterable[float]:
        for attempt in range(self.attempts_max - 1):
            yield min(self.backoff_s * 2**attempt, self.backoff_max_s)


@dataclass(frozen=True, slots=True)
class Failure:
    error: Exception
    tries: int
    kind: str


def try_again(
    call: Callable[[], Result],
    first: TransientError,
    retry: Retry,
    sleep: Callable[[float], None] = time.sleep,
) -> Result | Failure:
    """Call until it works, after a first transient failure; or why it never did."""
    error: Exception = first
    tries = 1
    for wait_s in retry.waits():
        sleep(wait_s)
        tries += 1
        try:
            return call()
        except TransientError as again:
            error = again
        except Exception as poison:
            return Failure(poison, tries, name.POISON)
    return Failure(error, tries, name.TRANSIENT)


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
    return kept + [(key, str(value).encode()) for key, value in said.items()]


def _attempts_before(headers: Headers) -> int:
    values = [value for key, value in headers if key == name.ATTEMPT]
    try:
        return int(values[-1] or 0) if values else 0
    except ValueError:
        return 0
