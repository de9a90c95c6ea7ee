"""Retrying transient failures with growing pauses, and the result. Writes nothing."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from penstock.client.dead_letter import POISON as POISON
from penstock.client.dead_letter import TRANSIENT as TRANSIENT
from penstock.pipelines.error import TransientError

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a transient failure is tried again, and how long it waits before each time."""

    attempts_max: int = 5
    backoff_s: float = 0.1
    backoff_max_s: float = 2.0

    def waits(self, chance: Callable[[], float] = random.random) -> Iterable[float]:
        for failures in range(1, self.attempts_max):
            yield growing_wait_s(self.backoff_s, failures, self.backoff_max_s, chance)


def growing_wait_s(
    first_s: float, failures: int, max_s: float, chance: Callable[[], float] = random.random
) -> float:
    """The wait after so many failures in a row: up to a half of it is left to chance, so that what
    failed together, because one broker went away, does not come back all at once."""
    wait_s: float = min(first_s * 2.0 ** max(0, failures - 1), max_s)
    return wait_s * (1 - chance() / 2)


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
            return Failure(poison, tries, POISON)
    return Failure(error, tries, TRANSIENT)


def attempt(call: Callable[[], Result], retry: Retry) -> Result | Failure:
    """What the call returns, at once or when tried again; or why it never did."""
    try:
        return call()
    except TransientError as error:
        return try_again(call, error, retry)
    except Exception as error:
        return Failure(error, 1, POISON)
