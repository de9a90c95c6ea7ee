"""State machines as tables: what a service does with an event, in every state there is. Pure.

A table says something about every state and every event: a rule, or that the event changes nothing
there because it is late, comes again, or has come before what it follows from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

NEW = "new"
"""Nothing was heard of the order."""


@dataclass(frozen=True, slots=True)
class Rule:
    state: str
    event: str
    to: str
    does: str | None = None
    """What is changed beside the state: `reserve`, `charge`, and so on."""
    emits: tuple[str, ...] = ()
    when: str | None = None
    """A question that has to be answered with yes; rules are tried in order."""


@dataclass(frozen=True, slots=True)
class Machine:
    name: str
    rules: tuple[Rule, ...]
    ignored: frozenset[tuple[str, str]]
    """States and events that change nothing."""
    ends: frozenset[str]
    """States from which nothing more is expected."""

    @property
    def states(self) -> list[str]:
        return _unique(state for rule in self.rules for state in (rule.state, rule.to))

    @property
    def events(self) -> list[str]:
        return _unique(rule.event for rule in self.rules)

    def step(self, state: str, event: str, ask: Callable[[str], bool]) -> Rule | None:
        """The rule that holds; None where the event changes nothing."""
        if (state, event) in self.ignored:
            return None
        for rule in self.rules:
            if (rule.state, rule.event) == (state, event) and (rule.when is None or ask(rule.when)):
                return rule
        raise LookupError(f"{self.name}: nothing is said about {event} in state {state}")


def machine(
    name: str, rules: Iterable[Rule], *, ignored: Iterable[tuple[str, str]], ends: Iterable[str]
) -> Machine:
    """`ignored`: a state, and the events that change nothing there, parted by blanks."""
    pairs = ((state, event) for state, events in ignored for event in events.split())
    return Machine(name, tuple(rules), frozenset(pairs), frozenset(ends))


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
