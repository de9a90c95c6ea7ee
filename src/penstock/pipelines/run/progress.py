"""How far a run is, as plain numbers: what the live view, status.json and Prometheus show."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    topic: str
    partition: int
    position: int
    """The offset of the next record to be read."""
    end: int

    @property
    def lag(self) -> int:
        return max(0, self.end - self.position)


@dataclass(frozen=True, slots=True)
class Progress:
    input_rate: float = 0.0
    """Records read a second, over the last seconds."""
    output_rate: float = 0.0
    """Rows written a second; equal to 0 where the sink does not tell."""
    input_rows: int = 0
    output_rows: int = 0
    batches: int = 0
    batch_ms_p50: float = 0.0
    batch_ms_p99: float = 0.0
    latency_ms_p50: float = 0.0
    latency_ms_p99: float = 0.0
    """From a record's time stamp to the end of its batch, where it is known."""
    dead_letters: int = 0
    late: int = 0
    restarts: int = 0
    partitions: tuple[PartitionProgress, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)
    """What one kind of pipeline adds of its own; plain JSON."""

    @property
    def lag(self) -> int:
        return sum(each.lag for each in self.partitions)

    def document(self) -> dict[str, Any]:
        partitions = [{**asdict(each), "lag": each.lag} for each in self.partitions]
        return {**asdict(self), "lag": self.lag, "partitions": partitions}
