"""What a user declares of a consumer, checked. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from penstock.client.app.handler import Handler
from penstock.client.app.retry import Retry, retry_topic
from penstock.client.duration import milliseconds
from penstock.client.error import DeclarationError

Order = Literal["key", "partition", "none"]
Delivery = Literal["at-least-once", "at-most-once", "exactly-once"]
Start = Literal["earliest", "latest"]
_CHOICES = {"order": get_args(Order), "delivery": get_args(Delivery), "start": get_args(Start)}


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """Where records go that cannot be handled, how long they stay, and who looks after them."""

    topic: str
    retention: str = "30d"
    owner: str | None = None

    @property
    def retention_ms(self) -> int:
        return milliseconds(self.retention)


@dataclass(frozen=True, slots=True)
class Declaration:
    handler: Handler
    weights: Mapping[str, int]
    """By topic, all 1 unless said."""
    group: str
    retry: Retry
    dead_letters: DeadLetters
    concurrency: int = 16
    order: Order = "key"
    delivery: Delivery = "at-least-once"
    output: str | None = None
    timeout_ms: int | None = None
    ttl_ms: int | None = None
    start: Start = "earliest"
    commit_every: int = 1000
    commit_interval_s: float = 1.0
    drain_s: float = 30.0
    buffer: int = 4000
    static: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def topics(self) -> list[str]:
        return list(self.weights)

    @property
    def delayed_topics(self) -> dict[str, tuple[str, str]]:
        """Retry topics: the topic each is for, and its delay."""
        if self.retry.keep_order:
            return {}
        return {
            retry_topic(self.group, topic, delay): (topic, delay)
            for topic in self.topics
            for delay in self.retry.delays
        }

    def lane_of(self, part: int, key: bytes | None) -> Hashable:
        """What a record has to wait for; None: for nothing. `part` is the partition's number."""
        if self.order == "key":
            return None if key is None else (part, key)
        return part if self.order == "partition" else None

    def check(self) -> None:
        if not self.weights:
            raise DeclarationError(f"{self.handler.name} names no topic")
        self._check_choices()
        for option in ("concurrency", "buffer", "commit_every"):
            if getattr(self, option) < 1:
                raise DeclarationError(f"{self.handler.name}: {option} is at least 1")
        if any(weight < 1 for weight in self.weights.values()):
            raise DeclarationError(f"{self.handler.name}: a topic's weight is at least 1")
        if self.delivery == "at-most-once" and (self.retry.delays or self.retry.keep_order):
            raise DeclarationError(f"{self.handler.name}: at most once means no retry topics")
        if self.dead_letters.topic in self.weights:
            raise DeclarationError(f"{self.handler.name} reads its own dead letters")

    def _check_choices(self) -> None:
        """A word that is not known would be taken for another one."""
        for option, known in _CHOICES.items():
            said = getattr(self, option)
            if said not in known:
                raise DeclarationError(
                    f"{self.handler.name}: {option}={said!r} is none of {', '.join(known)}"
                )
