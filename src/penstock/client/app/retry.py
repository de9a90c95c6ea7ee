"""What becomes of a record whose handler failed: again in place, a retry topic, the dead letters.

Pure: it says what to do next, and never waits or sends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.client.dead_letter import POISON, TRANSIENT
from penstock.client.duration import milliseconds
from penstock.client.error import DecodeError, PoisonError, TransientError

MISTAKES: tuple[type[BaseException], ...] = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    NotImplementedError,
    SystemExit,
    TypeError,
    ValueError,
)
"""What the next attempt would raise again: a mistake in the code, or in the record."""

DUE_HEADER = "penstock.retry.due"
"""When the record is to be tried again, in milliseconds since the epoch."""
STAGE_HEADER = "penstock.retry.stage"
"""The delay of the retry topic that the record is in."""


class Again(NamedTuple):
    """Try once more in this process, after so long."""

    wait_ms: int


class Later(NamedTuple):
    """To the retry topic of this delay."""

    delay: str
    delay_ms: int


class Dead(NamedTuple):
    """To the dead letters, as poison or after all retries."""

    kind: str


Verdict = Again | Later | Dead


@dataclass(frozen=True)
class Retry:
    """`Retry("1m", "5m", "30m")`: three attempts in place, then once after each of these delays.

    With `keep_order`, records of a failed key wait behind it, in memory, and the delays pass there
    too instead of in retry topics.
    """

    delays: tuple[str, ...] = ()
    attempts: int = 3
    backoff: str = "100ms"
    backoff_max: str = "10s"
    keep_order: bool = False
    poison: tuple[type[BaseException], ...] = ()
    transient: tuple[type[BaseException], ...] = ()
    _delays_ms: tuple[int, ...] = field(init=False, repr=False)
    _backoff_ms: int = field(init=False, repr=False)
    _backoff_max_ms: int = field(init=False, repr=False)

    def __init__(
        self,
        *delays: str,
        attempts: int = 3,
        backoff: str = "100ms",
        backoff_max: str = "10s",
        keep_order: bool = False,
        poison: tuple[type[BaseException], ...] = (),
        transient: tuple[type[BaseException], ...] = (),
    ) -> None:
        values: dict[str, object] = {
            "delays": delays,
            "attempts": max(1, attempts),
            "backoff": backoff,
            "backoff_max": backoff_max,
            "keep_order": keep_order,
            "poison": poison,
            "transient": transient,
            "_delays_ms": tuple(map(milliseconds, delays)),
            "_backoff_ms": milliseconds(backoff),
            "_backoff_max_ms": milliseconds(backoff_max),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def classify(self, error: BaseException) -> str:
        """What the user named counts first, and what he named as transient before that."""
        if isinstance(error, (TransientError, *self.transient)):
            return TRANSIENT
        if isinstance(error, (PoisonError, DecodeError, *self.poison)):
            return POISON
        # Among them TimeoutError, which asyncio raises as well.
        if isinstance(error, OSError):
            return TRANSIENT
        return POISON if isinstance(error, MISTAKES) else TRANSIENT

    def next_step(
        self, error: BaseException, tries: int, stage: str | None, chance: float
    ) -> Verdict:
        """After `tries` in this stage: None for the source, else the delay of a retry topic.

        `chance` is a random number from 0 to 1.
        """
        if self.classify(error) == POISON:
            return Dead(POISON)
        if stage is None and tries < self.attempts:
            return Again(self._backoff(tries, chance))
        if self.keep_order:
            return self._again_in_memory(tries, chance)
        following = 0 if stage is None else self._place_of(stage) + 1
        if following >= len(self.delays):
            return Dead(TRANSIENT)
        return Later(self.delays[following], self._delays_ms[following])

    def _again_in_memory(self, tries: int, chance: float) -> Verdict:
        number = tries - self.attempts
        if number >= len(self.delays):
            return Dead(TRANSIENT)
        return Again(_spread(self._delays_ms[number], chance))

    def _place_of(self, stage: str) -> int:
        """A delay that is not declared any more counts as the last: what waited in it ends."""
        return self.delays.index(stage) if stage in self.delays else len(self.delays)

    def _backoff(self, tries: int, chance: float) -> int:
        grown: int = min(self._backoff_ms << min(tries - 1, 40), self._backoff_max_ms)
        return _spread(grown, chance)


def _spread(wait_ms: int, chance: float) -> int:
    """Up to a half is left to chance: what failed together does not come back all at once."""
    return max(1, round(wait_ms * (1 - chance / 2)))


def retry_topic(group: str, topic: str, delay: str) -> str:
    """Of one group alone: others that read the topic have nothing to do with its failures."""
    return f"{group}.{topic}.retry-{delay}"
