"""One run of a drill: a quiet time, the incident, the page, and how it went. Prints nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from penstock.cli.drill.flag import Act, Moment, Seen, flags
from penstock.cli.drill.incident import Incident, Run
from penstock.cli.drill.stage import Stage
from penstock.cli.drill.watch import look
from penstock.cli.group.sla import write_sla
from penstock.cli.operator.link import Link
from penstock.model.sla import SlaKey

FALLEN: Final = 0.7
"""Of the most records that ever waited: with fewer, lag falls."""
STRICTEST: Final = "billing"


@dataclass(slots=True)
class Drill:
    stage: Stage
    incident: Incident
    link: Link
    run: Run
    processes: Callable[[], tuple[int, ...]] = tuple
    """Of the brokers, where they are the drill's own."""
    moments: list[Moment] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    paged_s: float | None = None
    named: str | None = None
    """What the operator says that it is."""

    def prepare(self, names: Iterable[str] | None = None) -> None:
        """The services at work, and their limits."""
        self.incident.prepare()
        self.stage.start(names)
        for each in self.stage.services.values():
            write_sla(self.link, SlaKey("group", each.name), each.limit_s)

    def begin(self) -> None:
        self.incident.begin(self.run)

    def is_late(self) -> bool:
        """Whether somebody is to be paged: the victim is over its limit."""
        seen = self.look().groups.get(self.victim)
        return seen is not None and seen.lag_s > self.incident.service.limit_s

    @property
    def victim(self) -> str:
        return self.incident.service.name

    def page(self) -> None:
        self.paged_s = time.monotonic()
        self.moments.clear()
        self.look()

    def look(self) -> Moment:
        since_s = 0.0 if self.paged_s is None else time.monotonic() - self.paged_s
        groups = look(self.link, self.stage.services.values())
        moment = Moment(since_s, groups, self.processes())
        self.moments.append(moment)
        return moment

    def note(self, *words: str) -> None:
        since_s = 0.0 if self.paged_s is None else time.monotonic() - self.paged_s
        self.acts.append(Act(since_s, words))

    @property
    def peak(self) -> int:
        return max((self._victim(each).lag for each in self.moments), default=0)

    @property
    def falls(self) -> bool:
        """The victim has clearly fewer records to read than it had."""
        return bool(self.moments) and self._victim(self.moments[-1]).lag <= FALLEN * self.peak

    @property
    def is_over(self) -> bool:
        """Nobody is over a limit any more."""
        limits = {each.name: each.limit_s for each in self.stage.services.values()}
        return bool(self.moments) and all(
            seen.lag_s <= limits[name] for name, seen in self.moments[-1].groups.items()
        )

    def _victim(self, moment: Moment) -> Seen:
        return moment.groups.get(self.victim, Seen(0, 0.0, frozenset(), 0, 0))

    def report(self) -> dict[str, Any]:
        strictest = self.stage.services[STRICTEST]
        found = flags(self.moments, self.acts, strictest.name, strictest.limit_s)
        return {
            "incident": self.incident.name,
            "cause": self.incident.cause.value,
            "answer": self.incident.answer,
            "named": self.named,
            "contained": self.falls,
            "over": self.is_over,
            "seconds": round(self.moments[-1].at_s, 1) if self.moments else 0.0,
            "peak": self.peak,
            "red_flags": found,
        }
