"""A repartition that is under way, kept in a compacted topic of the cluster until its end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final

from penstock.cli.group.own_topic import OwnTopic
from penstock.cli.operator.link import Link

JOBS_TOPIC: Final = "__penstock_repartitions"


class Phase(StrEnum):
    copying = "copying"
    """Producers write to the old topic, and the new one is filled from it."""
    switching = "switching"
    """The old topic takes no more records; the last ones are copied."""
    switched = "switched"
    """Producers write to the new topic. Groups read the old one to its end, then the new one."""
    returning = "returning"
    """The new topic takes no more records; what it has got is copied back."""


@dataclass(frozen=True, slots=True)
class Job:
    source: str
    target: str
    source_partitions: int
    partitions: int
    partitioner: str
    """`murmur2` or `crc32`, as the producers have it."""
    number: int
    """When it was begun: no other job has it."""
    starts: Mapping[int, int] = field(default_factory=dict)
    """Where the old topic began when it was first copied."""
    phase: Phase = Phase.copying
    limits: Mapping[str, str | None] = field(default_factory=dict)
    """By topic: its own max.message.bytes from before it was closed; None if it had none."""
    cut: Mapping[int, int] = field(default_factory=dict)
    """Where the old topic ends."""
    target_cut: Mapping[int, int] = field(default_factory=dict)
    """Where the copy ends in the new topic."""
    is_checked: bool = False

    @property
    def group(self) -> str:
        """Whose offsets say how far the copy is."""
        return f"penstock-repartition-{self.source}-{self.number}"

    @property
    def transactional_id(self) -> str:
        """The same for every job of the topic: who comes last takes over."""
        return f"penstock-repartition-{self.source}"

    @property
    def back_group(self) -> str:
        return f"{self.group}-back"


class Jobs:
    def __init__(self, link: Link) -> None:
        self._topic = OwnTopic(link, JOBS_TOPIC)

    def find(self, source: str) -> Job | None:
        value = self._topic.read().get(source.encode())
        return None if value is None else decode(value)

    def keep(self, job: Job) -> None:
        self._topic.write({job.source.encode(): encode(job)})

    def forget(self, job: Job) -> None:
        self._topic.write({job.source.encode(): None})


def encode(job: Job) -> bytes:
    return json.dumps(asdict(job)).encode()


def decode(value: bytes) -> Job:
    document: dict[str, Any] = json.loads(value)
    document["phase"] = Phase(document["phase"])
    for name in ("starts", "cut", "target_cut"):
        document[name] = {int(key): int(each) for key, each in document[name].items()}
    return Job(**document)
