"""Spark's own record of batches in a checkpoint: what each was to read, and whether it ended.

Read only, but for the draft of a Spark that was killed. Written by Spark before a batch begins, so
that a batch that is run again reads the same; that is what makes work on a batch after its end
repeatable, too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.pipelines.error import RunError
from penstock.pipelines.folder import Folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Positions = dict[str, dict[str, int]]
"""Offsets as Spark writes them: topic, then partition as text."""


@dataclass(frozen=True, slots=True)
class Batch:
    number: int
    starts: tuple[Positions | None, ...]
    """For each source in Spark's order; None where nothing was read yet."""
    ends: tuple[Positions | None, ...]
    watermark_ms: int
    """Behind which stateful operators leave out rows of this batch: that of the batch before."""


class BatchLog:
    def __init__(self, spark: SparkSession, checkpoint: str) -> None:
        self.folder = Folder(spark, checkpoint)

    def last_committed(self) -> int:
        """The number of the last batch that ended, or -1."""
        return max(self.folder.numbers("commits"), default=-1)

    def last_planned(self) -> int:
        return max(self.folder.numbers("offsets"), default=-1)

    def remove_draft(self) -> None:
        """Before the query starts. Spark writes a plan under another name first, and refuses a
        folder with anything in it and no batch: killed in between, it would never start again."""
        if self.folder.names("offsets") and self.last_planned() == self.last_committed() == -1:
            self.folder.delete("offsets")

    def is_committed(self, number: int) -> bool:
        # Spark deletes old entries: one below the last has ended as well.
        return self.folder.exists(f"commits/{number}") or number <= self.last_committed()

    def first_known(self) -> int:
        return min(self.folder.numbers("offsets"), default=0)

    def batch(self, number: int) -> Batch:
        _, ends = self._entry(number)
        if number == 0:
            starts = tuple(self._initial(index) for index in range(len(ends)))
            return Batch(number, starts, ends, 0)
        before, starts = self._entry(number - 1)
        # A source that gave nothing so far begins where it was found at the start.
        begun = tuple(
            each if each is not None else self._initial(index) for index, each in enumerate(starts)
        )
        return Batch(number, begun, ends, int(before["batchWatermarkMs"]))

    def positions(self) -> dict[tuple[str, int], int]:
        """Where the last ended batch stopped reading."""
        last = self.last_committed()
        sources = self._entry(last)[1] if last >= 0 else ()
        return {
            (topic, int(partition)): offset
            for source in sources
            for topic, partitions in (source or {}).items()
            for partition, offset in partitions.items()
        }

    def begun(self) -> dict[tuple[str, int], int]:
        """Where the first batch began to read; nothing before there was one."""
        found = (self._initial(source) for source in self.folder.numbers("sources"))
        return {
            (topic, int(partition)): offset
            for source in found
            for topic, partitions in (source or {}).items()
            for partition, offset in partitions.items()
        }

    def _entry(self, number: int) -> tuple[dict[str, Any], tuple[Positions | None, ...]]:
        name = f"offsets/{number}"
        lines = self.folder.read(name).decode(errors="replace").splitlines()
        try:
            sources = [None if line == "-" else json.loads(line) for line in lines[2:]]
            return json.loads(lines[1]), tuple(sources)
        except (IndexError, ValueError) as error:
            raise RunError(f"{self.folder.path(name)} is not what Spark writes: {error}") from error

    def _initial(self, source: int) -> Positions | None:
        name = f"sources/{source}/0"
        if not self.folder.exists(name):
            return None
        text = self.folder.read(name).decode(errors="replace")
        found: Positions = json.loads(text[text.index("{") :])
        return found


def as_positions(told: Any) -> Positions | None:
    """Offsets of a progress report: JSON within JSON, or already taken apart."""
    found: Positions | None = json.loads(told) if isinstance(told, str) else told
    return found
