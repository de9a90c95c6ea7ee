"""What a workload brings home from one broker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.pipelines.usage import Usage


@dataclass(frozen=True)
class Profile:
    """Where the time went while one rate was measured."""

    cores: Usage
    queries: list[dict[str, Any]]


@dataclass
class Outcome:
    values: dict[str, list[float]] = field(default_factory=dict)
    profiles: dict[str, Profile] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """What a reader of the figures has to know."""

    def add(self, measured: Mapping[str, float]) -> None:
        for key, value in measured.items():
            self.values.setdefault(key, []).append(value)
