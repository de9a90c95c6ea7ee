"""The table of hostile input says what the reports say, and hides no failure."""

from __future__ import annotations

from typing import Any

from tools.hostile_table import HEADING, render


def row(case: str, **more: Any) -> dict[str, Any]:
    figures = {"wait_s": 0.123, "broker_s": 0.1, "memory_mb": 41.6, "failure": None}
    return {"case": case, "theme": "requests", "outcome": "passed", **figures, **more}


def test_both_brokers_stand_side_by_side() -> None:
    section = render({"penstock": [row("names")], "kafka": [row("names", memory_mb=900.0)]})
    assert section.startswith(HEADING)
    assert "| requests | names | 123 ms | 42 MB | 123 ms | 900 MB |" in section


def test_what_was_not_done_to_kafka_has_a_dash() -> None:
    assert "| names | 123 ms | 42 MB | – | – |" in render({"penstock": [row("names")]})


def test_failures_are_shown() -> None:
    slow, refused = row("slow", outcome="failed"), row("refused", failure="TimeoutError: timed out")
    section = render({"penstock": [slow, refused]})
    assert "| slow | 123 ms, **failed** |" in section
    assert "| refused | TimeoutError: timed out | – |" in section
