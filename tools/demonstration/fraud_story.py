"""The fraud detector at work: payments, verdicts, a rule changed meanwhile, and the proof.

Broker, generator and detector are processes of their own, started by the commands a user would
type. This module only watches the topics and tells.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AdminClient, NewTopic

from penstock.pipelines.jobs.fraud.checker import Checker, Report, wait_until_judged
from penstock.pipelines.jobs.fraud.generator import ensure_topics
from penstock.pipelines.jobs.fraud.model import DEAD_LETTERS, PAYMENTS, VERDICTS
from penstock.pipelines.progress_line import ProgressLine
from tools.demonstration.process import Broker, Command, interrupts_wait, run_command
from tools.demonstration.table import LiveTable, Row
from tools.demonstration.telling import ClaimError, chapter, check, say
from tools.demonstration.watch import QUIET, Analytics, Audit, Lags, Reader
from tools.detector import Detector

RATE, PARTITIONS = 2_000, 4
RULE = "watch-list"
_START_PATIENCE_S = 300.0


class Show:
    def __init__(self, broker: Broker, home: Path, seconds: float, rate: int) -> None:
        self._address = broker.address
        self._home = home
        self._seconds = seconds
        self._rate = rate
        self._client = {"bootstrap.servers": broker.address} | QUIET
        self._audit, self._analytics = Audit(), Analytics()
        self._audit_reader = Reader(broker.address, VERDICTS, self._audit.take_verdicts, "audit")
        self._paid = Reader(broker.address, PAYMENTS, self._audit.take_payments)
        self._analytics_reader = Reader(broker.address, VERDICTS, self._analytics.take, "analytics")
        self._dead_letters = Reader(broker.address, DEAD_LETTERS, lambda _: None)
        self._lags = Lags(broker.address)
        self._detector = Detector(broker.address, home / "pipelines")
        self._notes: list[str] = []

    def run(self) -> None:
        with ExitStack() as ending:
            ending.callback(self._lags.close)
            ensure_topics(self._client, PARTITIONS)
            _ensure_verdicts(self._client)
            with interrupts_wait():
                generator = self._generate()
                ending.callback(generator.stop)
            ending.callback(self._detector.stop)
            began = self._start_detector()
            for reader in self._readers():
                ending.callback(reader.stop)
            self._paid.start()
            self._audit_reader.start()
            self._wait_for_verdicts(began)
            # The detector makes this topic before it gives a verdict.
            self._dead_letters.start()
            self._watch()
            generator.stop()
            self._prove()
            say("ending the detector, the generator and the readers")

    def _readers(self) -> tuple[Reader, ...]:
        return self._paid, self._audit_reader, self._analytics_reader, self._dead_letters

    def _generate(self) -> Command:
        arguments = ["fraud", "generate", "--rate", str(self._rate), "--accounts", "1000"]
        say(f"$ penstock {' '.join(arguments)}", "theft among them, labelled where nobody looks")
        return Command([*arguments, "-b", self._address], self._home / "generator.log")

    def _start_detector(self) -> float:
        say("$ penstock pipeline run fraud")
        with interrupts_wait():
            self._detector.start()
        return time.monotonic()

    def _wait_for_verdicts(self, began: float) -> None:
        title = "waiting for the first verdicts"
        with ProgressLine(title, out=sys.stdout, lead="  ", gap_s=0) as progress:
            while not self._audit.verdicts:
                self._require_detector()
                if time.monotonic() > began + _START_PATIENCE_S:
                    raise ClaimError(f"no verdict came:\n{self._detector.last_words()}")
                progress.show(self._detector.stage())
                time.sleep(0.3)

    def _require_detector(self) -> None:
        if not self._detector.running:
            raise ClaimError(f"the detector has ended:\n{self._detector.last_words()}")

    def _watch(self) -> None:
        """The scenes, each at its share of the time, and the table meanwhile."""
        scenes: list[tuple[float, Callable[[], None]]] = [
            (0.30, self._join_analytics),
            (0.50, self._add_rule),
            (0.75, self._withdraw_rule),
        ]
        began = time.monotonic()
        with LiveTable() as table:
            last = (began, 0, 0)
            while (passed := time.monotonic() - began) < self._seconds:
                while scenes and passed >= scenes[0][0] * self._seconds:
                    scenes.pop(0)[1]()
                self._require_detector()
                last = self._draw(table, began, last)
                time.sleep(min(1.0, self._seconds / 10))

    def _draw(
        self, table: LiveTable, began: float, last: tuple[float, int, int]
    ) -> tuple[float, int, int]:
        now, paid, judged = time.monotonic(), self._paid.read, self._audit.verdicts
        took = max(now - last[0], 1e-3)
        latency = self._audit.latency_ms()
        shown = "…" if latency is None else f"{latency[0]:,.0f} / {latency[1]:,.0f} ms"
        flagged = self._audit.flagged
        rows: list[Row] = [
            ("payments", f"{paid:,}", f"{(paid - last[1]) / took:,.0f}/s"),
            ("verdicts", f"{judged:,}", f"{(judged - last[2]) / took:,.0f}/s"),
            ("flagged for review", f"{flagged:,}", f"{flagged / max(judged, 1):.2%}"),
            ("dead letters", f"{self._dead_letters.read:,}", ""),
            ("payment to verdict, p50 / p99", shown, "last 5 s, read as committed"),
            ("lag of the detector", self._lag("fraud", PAYMENTS), "group fraud"),
            ("lag of audit", self._lag("audit", VERDICTS), "every verdict, once each"),
            ("lag of analytics", self._lag("analytics", VERDICTS), self._analytics_note()),
        ]
        table.show(now - began, rows, self._notes)
        return now, paid, judged

    def _lag(self, group: str, topic: str) -> str:
        behind = self._lags.lag(group, topic)
        return "…" if behind is None else f"{behind:,}"

    def _analytics_note(self) -> str:
        if not self._analytics_reader.read:
            return "has not joined yet"
        return f"{self._analytics_reader.read:,} read, {len(self._analytics.accounts):,} accounts"

    def _join_analytics(self) -> None:
        self._analytics_reader.start()
        self._notes.append("analytics joins: its own group, from the first verdict on")

    def _add_rule(self) -> None:
        merchants = ",".join(f"m{number}" for number in range(100))
        setting = f"merchants={merchants}"
        kind = ("--kind", "merchants")
        began = time.time()
        run_command("fraud", "rules", "set", RULE, *kind, setting, "-b", self._address)
        self._notes.append(f"$ penstock fraud rules set {RULE} --kind merchants merchants=m0,m1,…")
        deadline = time.monotonic() + min(10.0, self._seconds / 2)
        while RULE not in self._audit.first_by_rule and time.monotonic() < deadline:
            time.sleep(0.02)
        first = self._audit.first_by_rule.get(RULE)
        if first is None:
            self._notes.append("the new rule has flagged nothing yet")
        else:
            took = f"{first - began:.1f} s"
            self._notes.append(f"the first payment it flagged came {took} after the command began")

    def _withdraw_rule(self) -> None:
        run_command("fraud", "rules", "withdraw", RULE, "-b", self._address)
        self._notes.append(f"$ penstock fraud rules withdraw {RULE}")

    def _prove(self) -> None:
        chapter("7  The proof")
        say("waiting for the last verdicts, then reading everything back")
        behind = wait_until_judged(self._client, 60.0)
        check(behind == 0, "the detector has judged all that was paid")
        report = Checker(self._client).run()
        say("$ penstock fraud check", f"{report.payments:,} payments in {report.seconds:.1f} s")
        for what, count in report.violations.items():
            say(f"{count:,} {what}", "; ".join(report.examples[what]))
        check(report.holds, "every payment has exactly one verdict")
        check(self._audit.twice == 0, "the audit, which followed live, saw none twice")
        undecodable = f"{report.undecodable:,} records were no payments"
        say(f"{undecodable} and lie in {DEAD_LETTERS}", "penstock dlq show fraud.dead-letters")
        self._tell_accuracy(report)

    def _tell_accuracy(self, report: Report) -> None:
        accuracy = report.accuracy
        if accuracy is None:
            return
        own = {rule: n for rule, n in accuracy.false_reasons.items() if rule != RULE}
        say(
            f"false alarms of the shipped rules: {sum(own.values()):,} of {accuracy.honest:,}",
            json.dumps(own) if own else "none",
        )
        for kind in sorted(accuracy.kinds.values(), key=lambda one: one.kind):
            caught = f"{len(kind.caught)} of {len(kind.incidents)} thefts caught"
            say(f"{kind.kind}: {caught}")


def _ensure_verdicts(client: dict[str, Any]) -> None:
    """So that audit can be there before the first verdict; the detector takes what it finds."""
    admin = AdminClient(client)
    admin.create_topics([NewTopic(VERDICTS, PARTITIONS)])[VERDICTS].result(10)
