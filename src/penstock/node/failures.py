"""What went wrong in upkeep: counted every time, logged once as long as it stays the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from penstock.telemetry.log import get_logger

log = get_logger("upkeep")


class UpkeepFailures:
    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._said: dict[tuple[str, str], str] = {}

    def note(self, job: str, subject: str, error: BaseException) -> None:
        self._counts[job] += 1
        text = f"{type(error).__name__}: {error}"
        if self._said.get((job, subject)) != text:
            self._said[job, subject] = text
            log.error("upkeep failed", job=job, subject=subject, error=text)

    def passed(self, job: str, subject: str) -> None:
        """It works again: should it fail once more, that is news."""
        if self._said and self._said.pop((job, subject), None) is not None:
            log.info("upkeep works again", job=job, subject=subject)

    def counts(self) -> Iterator[tuple[tuple[str, ...], float]]:
        for job, count in self._counts.items():
            yield (job,), count
