"""A machine's table as a diagram and a list, for the docs. Pure."""

from __future__ import annotations

from penstock.saga.machine import NEW, Machine, Rule


def diagram(machine: Machine) -> str:
    """Mermaid, as most renderers of Markdown know it."""
    lines = ["```mermaid", "stateDiagram-v2"]
    lines += [f"    {_arrow(rule)}" for rule in machine.rules]
    lines += [f"    {_name(state)} --> [*]" for state in machine.states if state in machine.ends]
    return "\n".join([*lines, "```"])


def _arrow(rule: Rule) -> str:
    origin = "[*]" if rule.state == NEW else _name(rule.state)
    when = f" ({rule.when})" if rule.when else ""
    does = f" / {rule.does}" if rule.does else ""
    return f"{origin} --> {_name(rule.to)}: {rule.event}{when}{does}"


def _name(state: str) -> str:
    return state.replace(" ", "_")


def table(machine: Machine) -> str:
    rows = ["| state | event | becomes | and emits |", "| --- | --- | --- | --- |"]
    for rule in machine.rules:
        event = f"{rule.event}, {rule.when}" if rule.when else rule.event
        rows.append(f"| {rule.state} | {event} | {rule.to} | {', '.join(rule.emits) or '-'} |")
    return "\n".join(rows)
