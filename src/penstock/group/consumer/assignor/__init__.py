"""The coordinator's ways to share partitions, by the names clients ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from penstock.group.consumer.assignor.range import assign_range
from penstock.group.consumer.assignor.subject import Subject
from penstock.group.consumer.assignor.uniform import assign_uniform
from penstock.group.consumer.member import Partitions
from penstock.model.id import TopicId

Assignor = Callable[[Mapping[str, Subject], Mapping[TopicId, int]], dict[str, Partitions]]

ASSIGNORS: dict[str, Assignor] = {"uniform": assign_uniform, "range": assign_range}

__all__ = ["ASSIGNORS", "Assignor", "Subject"]
