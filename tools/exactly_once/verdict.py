"""What runs of copiers under fire have in common: figures, and reading everything back to judge it.

One node or a cluster, it is the same topic and its copy. What else is judged, and how a run is
described, is each tool's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from penstock.testing.history import Assign, Begin, End, Event, Outcome, check
from tools.exactly_once.checker import differences, values_of
from tools.exactly_once.feeder import Feeder
from tools.exactly_once.reading import UnreadableError, hanging, read_topic
from tools.exactly_once.setup import COPY, SOURCE

Say = Callable[[str], None]


@dataclass(kw_only=True)
class Verdict:
    target: str
    seed: int
    seconds: float = 0.0
    disturbances: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    copied: int = 0
    transactions: Counter[str] = field(default_factory=Counter)
    assignments: int = 0
    violations: list[str] = field(default_factory=list)

    @property
    def kills(self) -> int:
        return sum(count for what, count in self.disturbances.items() if "killed" in what)

    @property
    def faults(self) -> Counter[str]:
        """Violations by kind."""
        return Counter(violation.partition(":")[0] for violation in self.violations)

    def summary(self) -> str:
        verdict = f"{len(self.violations)} violations" if self.violations else "nothing wrong"
        return (
            f"{self.acknowledged} records, {self.copied} copied, {told(self.transactions)}; "
            f"{self.disturbances.total()} disturbances; seed {self.seed}: {verdict}"
        )

    def count(self, events: Iterable[Event]) -> None:
        ends: dict[str, str] = {}
        for event in events:
            if isinstance(event, Begin):
                ends.setdefault(event.transaction, "died before its end")
            elif isinstance(event, End):
                ends[event.transaction] = _ending(event)
            elif isinstance(event, Assign) and event.group is not None:
                self.assignments += 1
        self.transactions = Counter(ends.values())


def _ending(end: End) -> str:
    if end.outcome is not Outcome.OK:
        return "commit unanswered" if end.commit else "abort unanswered"
    return "committed" if end.commit else "aborted"


def told(counts: Counter[str]) -> str:
    return ", ".join(f"{what} {count}" for what, count in sorted(counts.items())) or "none"


def drain(feeder: Feeder, verdict: Verdict, timeout_s: float) -> None:
    """No more records for the source; those on their way must arrive."""
    feeder.stopping.set()
    feeder.join(30)
    left = feeder.drain(timeout_s)
    if feeder.failure is not None:
        verdict.violations.append(f"producer: {feeder.failure}")
    elif left:
        verdict.violations.append(f"stuck: {left} records of the source were not acknowledged")


def judge(
    bootstrap: str, feeder: Feeder, others: Iterable[Event], verdict: Verdict, say: Say
) -> bool:
    """`others`: what everybody but the feeder did and saw. Whether all could be read."""
    say("reading everything back")
    for topic in (SOURCE, COPY):
        for index, (stable, end) in hanging(bootstrap, topic, 60).items():
            verdict.violations.append(f"hanging: {topic}-{index} is stable to {stable} of {end}")
    try:
        source = read_topic(bootstrap, SOURCE, "reader of the source")
        copy = read_topic(bootstrap, COPY, "reader of the copy")
    except UnreadableError as error:
        verdict.violations.append(f"unreadable: {error}")
        return False
    copied = values_of(copy)
    verdict.violations += [f"copy: {one}" for one in differences(values_of(source), copied)]
    noted = [*feeder.events, *others]
    verdict.violations += [f"history: {one}" for one in check([*noted, *source, *copy])]
    verdict.acknowledged = sum(event.outcome is Outcome.OK for event in feeder.events)
    verdict.copied = sum(len(values) for values in copied.values())
    verdict.count(noted)
    return True
