"""Findings as a page for a person at night, and as one document for a machine. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any, Final

from penstock.cli.doctor.diagnosis import is_wrong
from penstock.cli.doctor.facts import Facts
from penstock.cli.doctor.finding import Advice, Finding, Level
from penstock.cli.group.words import duration
from penstock.cli.output import plural, show_time

_WIDTH: Final = 100
_LABEL: Final = 8
_NO_PAST: Final = (
    "no past is kept: some causes cannot be told apart; `penstock brokers usage` says how to begin"
)
_WORDS: Final = {
    Level.broker: "BROKERS",
    Level.limit: "OVER LIMIT",
    Level.behind: "BEHIND",
    Level.note: "NOTE",
}


def page_lines(facts: Facts, findings: list[Finding]) -> list[str]:
    lines = _headline(facts, findings)
    said: set[Advice] = set()
    for number, each in enumerate(findings, 1):
        lines += ["", *_finding(number, each, facts.after.now_ms, said)]
    return lines


def _headline(facts: Facts, findings: list[Finding]) -> list[str]:
    look = facts.after
    seen = (
        f"{plural(len(look.state.brokers), 'broker')}, "
        f"{plural(len(look.state.partitions), 'partition')}, {plural(len(look.lags), 'group')} "
        f"looked at for {facts.passed_s:.0f} s, until {show_time(look.now_ms)}"
    )
    wrong = sum(each.level != Level.note for each in findings)
    if not wrong:
        return [f"nothing is wrong: {seen}"]
    without = [_NO_PAST] if facts.past is None else []
    return [f"{plural(wrong, 'finding')}, the most urgent first", seen, *without]


def _finding(number: int, found: Finding, now_ms: int, said: set[Advice]) -> Iterator[str]:
    """What was `said` before of what not to do is only named again."""
    yield from _wrapped(f"{number}. {_WORDS[found.level]}  ", found.what, indent=3)
    if found.since_ms is not None:
        ago = duration(float((now_ms - found.since_ms) // 1000))
        yield from _labelled("since", f"{show_time(found.since_ms)}, {ago} ago")
    yield from _labelled("why", found.why)
    for each in found.evidence:
        yield from _labelled("seen", each)
    for advice in found.first:
        yield from _advice("do", advice)
    for advice in found.avoid:
        shown = advice._replace(why="as above") if advice in said else advice
        yield from _advice("not", shown)
    said.update(found.avoid)


def _labelled(label: str, text: str) -> list[str]:
    return _wrapped(f"   {label.ljust(_LABEL - 2)}", text)


def _advice(label: str, advice: Advice) -> list[str]:
    """A command stays in one line, to be copied."""
    head = f"   {label.ljust(_LABEL - 2)}"
    if advice.do.startswith("penstock "):
        return [f"{head}{advice.do}", *_wrapped(" " * len(head) + "  ", advice.why)]
    return _wrapped(head, f"{advice.do}: {advice.why}")


def _wrapped(head: str, text: str, indent: int | None = None) -> list[str]:
    # Names of topics and groups are not broken at their hyphens.
    return wrap(
        text,
        _WIDTH,
        initial_indent=head,
        subsequent_indent=" " * (len(head) if indent is None else indent),
        break_on_hyphens=False,
        break_long_words=False,
    )


def page_document(facts: Facts, findings: list[Finding]) -> dict[str, Any]:
    look = facts.after
    return {
        "time": look.now_ms,
        "seconds": facts.passed_s,
        "brokers": len(look.state.brokers),
        "partitions": len(look.state.partitions),
        "groups": len(look.lags),
        "past": facts.past is not None,
        "wrong": is_wrong(findings),
        "findings": [_document(each) for each in findings],
    }


def _document(found: Finding) -> dict[str, Any]:
    return {
        "level": found.level.name,
        "cause": found.cause.value,
        "group": found.group,
        "topic": found.topic,
        "what": found.what,
        "since": found.since_ms,
        "why": found.why,
        "evidence": list(found.evidence),
        "first": [each._asdict() for each in found.first],
        "avoid": [each._asdict() for each in found.avoid],
    }
