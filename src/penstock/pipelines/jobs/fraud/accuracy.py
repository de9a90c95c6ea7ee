"""How well verdicts agree with the truth: recall for each kind of theft, and false alarms.

It counts; where verdicts and labels come from is the checker's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from penstock.pipelines.jobs.fraud.incident import UNDECODABLE
from penstock.pipelines.jobs.fraud.traffic import Label

FALSE_POSITIVE_RATE_MAX = 0.001


class Truth(NamedTuple):
    kind: str
    incident: int


@dataclass(slots=True)
class KindRecall:
    """One theft may be many payments: a burst is caught with the first one that is flagged."""

    kind: str
    payments: int = 0
    flagged: int = 0
    incidents: set[int] = field(default_factory=set)
    caught: set[int] = field(default_factory=set)

    @property
    def recall(self) -> float:
        return len(self.caught) / len(self.incidents) if self.incidents else 1.0


class Accuracy:
    def __init__(self, labels: Mapping[str, Truth]) -> None:
        self._labels = labels
        self.honest = 0
        self.false_positives = 0
        self.false_reasons: dict[str, int] = {}
        self.kinds: dict[str, KindRecall] = {}

    def add(self, payment: str, *, flagged: bool, reasons: Iterable[str] = ()) -> None:
        truth = self._labels.get(payment)
        if truth is None:
            self.honest += 1
            if flagged:
                self._add_false(reasons)
            return
        kind = self.kinds.setdefault(truth.kind, KindRecall(truth.kind))
        kind.payments += 1
        kind.flagged += flagged
        kind.incidents.add(truth.incident)
        if flagged:
            kind.caught.add(truth.incident)

    def _add_false(self, reasons: Iterable[str]) -> None:
        self.false_positives += 1
        for rule in reasons:
            self.false_reasons[rule] = self.false_reasons.get(rule, 0) + 1

    @property
    def false_positive_rate(self) -> float:
        return self.false_positives / self.honest if self.honest else 0.0

    @property
    def good(self) -> bool:
        return self.false_positive_rate < FALSE_POSITIVE_RATE_MAX

    def document(self) -> dict[str, object]:
        return {
            "honest": self.honest,
            "false_positives": self.false_positives,
            "false_positive_rate": self.false_positive_rate,
            "false_positive_rules": dict(sorted(self.false_reasons.items())),
            "kinds": {
                each.kind: {
                    "incidents": len(each.incidents),
                    "caught": len(each.caught),
                    "recall": each.recall,
                    "payments": each.payments,
                    "flagged": each.flagged,
                }
                for each in sorted(self.kinds.values(), key=lambda one: one.kind)
            },
        }


def truths(labels: Iterable[Label]) -> dict[str, Truth]:
    """By payment; what does not decode has no verdict, and so no place here."""
    return {
        each.payment: Truth(each.kind, each.incident) for each in labels if each.kind != UNDECODABLE
    }


def decode_label(key: bytes | None, value: bytes | None) -> Label | None:
    """A record of the labels topic; None where it is not ours."""
    if key is None or value is None:
        return None
    try:
        content = orjson.loads(value)
        return Label(key.decode(), str(content["kind"]), int(content["incident"]))
    except (KeyError, TypeError, ValueError):
        return None
