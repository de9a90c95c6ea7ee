"""The shape of a JSON log line, as docs/running.md has it."""

from __future__ import annotations

import ast
import io
import json
import logging
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.telemetry.log import MEMBERS, OTHERS, ROOT, configure, get_logger

SOURCE = Path(__file__).parents[3] / "src" / "penstock"
PAGE = Path(__file__).parents[3] / "docs" / "running.md"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
LEVELS = ("debug", "info", "warning", "error", "critical")


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    loggers = [logging.getLogger(name) for name in (ROOT, *OTHERS)]
    before = [(each, each.handlers[:], each.propagate, each.level) for each in loggers]
    found = io.StringIO()
    configure("json", "debug", found)
    yield found
    logging.captureWarnings(False)
    for logger, handlers, propagate, level in before:
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)


def test_every_line_has_the_documented_members(stream: io.StringIO) -> None:
    log = get_logger("part")
    log.debug("a", topic="t", count=7, ratio=0.5, is_on=True, nothing=None)
    log.info("with a path", path=Path("/x"), text='quotes " and\nline ends, ä')
    log.warning("c")
    try:
        raise ValueError("boom\nagain")
    except ValueError:
        log.exception("failed")
    logging.getLogger("asyncio").error("Task was destroyed")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", UserWarning, stacklevel=1)
    lines = [json.loads(each) for each in stream.getvalue().splitlines()]
    assert len(lines) == 6
    for each in lines:
        assert list(each)[:4] == ["time", "level", "source", "event"]
        assert TIME.fullmatch(each["time"])
        assert each["level"] in LEVELS
        assert all(value is None or isinstance(value, str | int | float) for value in each.values())
    assert lines[0] | {"topic": "t", "count": 7, "ratio": 0.5, "is_on": True} == lines[0]
    assert lines[1]["path"] == "/x"
    assert lines[3]["exception"].startswith("Traceback") and "boom" in lines[3]["exception"]
    assert [each["source"] for each in lines[3:]] == ["penstock.part", "asyncio", "py.warnings"]


def test_the_page_names_every_member() -> None:
    rows = re.findall(r"^\| `(\w+)` \| string \|", PAGE.read_text(), re.MULTILINE)
    assert tuple(rows) == MEMBERS


def test_no_event_has_a_field_of_a_member_s_name() -> None:
    """It would stand in the place of the member."""
    methods = ("debug", "info", "warning", "error", "exception")
    taken = [
        f"{path.relative_to(SOURCE)}:{node.lineno} {word.arg}"
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in methods
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "log"
        for word in node.keywords
        if word.arg in MEMBERS
    ]
    assert taken == []
