"""Places in a topic, as typed."""

from __future__ import annotations

import pytest

from penstock.cli.failure import UsageFailure
from penstock.cli.position import Anchor, Position, parse_position

NOW_MS = 1_700_000_000_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("beginning", Position(Anchor.beginning)),
        ("end", Position(Anchor.end)),
        ("0", Position(Anchor.offset, 0)),
        ("42", Position(Anchor.offset, 42)),
        ("-10", Position(Anchor.last, 10)),
        ("-15m", Position(Anchor.time, NOW_MS - 15 * 60_000)),
        ("-2d", Position(Anchor.time, NOW_MS - 2 * 86_400_000)),
        ("@1600000000123", Position(Anchor.time, 1_600_000_000_123)),
        ("2020-09-13T12:26:40Z", Position(Anchor.time, 1_600_000_000_000)),
        ("2020-09-13T14:26:40.250+02:00", Position(Anchor.time, 1_600_000_000_250)),
    ],
)
def test_parse(text: str, expected: Position) -> None:
    assert parse_position(text, NOW_MS) == expected


@pytest.mark.parametrize("text", ["", "yesterday", "-5x", "--3", "@", "1.5"])
def test_refuses_what_is_no_place(text: str) -> None:
    with pytest.raises(UsageFailure, match="is no place in a topic"):
        parse_position(text, NOW_MS)


@pytest.mark.parametrize(
    ("position", "at_time", "expected"),
    [
        (Position(Anchor.beginning), None, 5),
        (Position(Anchor.end), None, 9),
        (Position(Anchor.offset, 7), None, 7),
        (Position(Anchor.offset, 2), None, 5),
        (Position(Anchor.offset, 100), None, 9),
        (Position(Anchor.last, 3), None, 6),
        (Position(Anchor.last, 100), None, 5),
        (Position(Anchor.time, 1), 6, 6),
        (Position(Anchor.time, 1), -1, 9),
    ],
)
def test_resolves_between_start_and_end(
    position: Position, at_time: int | None, expected: int
) -> None:
    assert position.resolve(5, 9, at_time) == expected
