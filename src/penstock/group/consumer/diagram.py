"""Draws the table of transitions as a mermaid state diagram for the docs."""

from __future__ import annotations

from penstock.group.consumer.state import TRANSITIONS, MemberState


def mermaid() -> str:
    lines = ["stateDiagram-v2", f"    [*] --> {_name(MemberState.STABLE)}"]
    for state, ways in TRANSITIONS.items():
        lines += [
            f"    {_name(state)} --> {_name(to)}: {event.value}" for event, to in ways.items()
        ]
    lines += [f"    {_name(state)} --> [*]" for state in TRANSITIONS]
    return "\n".join(lines)


def _name(state: MemberState) -> str:
    return state.name.title().replace("_", "")
