"""Draws the table of transitions as a mermaid state diagram for the docs."""

from __future__ import annotations

from penstock.group.classic.state import TRANSITIONS, GroupState


def mermaid() -> str:
    lines = ["stateDiagram-v2", f"    [*] --> {GroupState.EMPTY.value}"]
    for state, ways in TRANSITIONS.items():
        lines += [f"    {state.value} --> {to.value}: {event.value}" for event, to in ways.items()]
    return "\n".join(lines)
