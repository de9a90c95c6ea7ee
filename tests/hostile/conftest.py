"""Hostile input: each test has a broker of its own, and a bystander who must not notice.

    pytest tests/hostile --target kafka --hostile-report .cache/hostile/kafka.json

runs the same against Apache Kafka, for comparison: nothing is demanded of it but what a test itself
asserts. tools/hostile_table.py makes the table in docs/reliability.md of the reports.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from penstock.testing.broker import Broker
from tests.hostile.target import OutOfTime, Target
from tests.target import target_name
from tools import apache_kafka

KAFKA_LIMIT_S = 120
"""For one test: some requests keep Apache Kafka busy for many minutes, and the others wait."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--hostile-report", metavar="FILE", help="write what was measured as JSON")
    parser.addoption(
        "--hostile-requests", type=int, default=2000, help="how many mutated ones each seed sends"
    )


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("hostile_report", None)
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(Path(path), target_name(config)))


class Report:
    """Written anew after every test: a long run that is cut off has not been in vain."""

    def __init__(self, path: Path, target: str) -> None:
        self._path = path
        self._content: dict[str, Any] = {"target": target, "rows": []}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The rows travel with pytest's own report, which may come from another process."""
        if report.when != "call":
            return
        self._content["rows"] += [
            {**value, "theme": theme_of(report.nodeid), "outcome": report.outcome}
            for name, value in report.user_properties
            if name == "hostile"
        ]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps(self._content, indent=1))


def theme_of(nodeid: str) -> str:
    file = Path(nodeid.partition("::")[0]).stem
    return file.removeprefix("test_hostile_").replace("_", " ")


@contextmanager
def ends_within(limit_s: int) -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise OutOfTime(f"not over after {limit_s} s")

    former = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(limit_s)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, former)


@pytest.fixture
def settings(request: pytest.FixtureRequest) -> dict[str, str]:
    """Of the broker: what `@pytest.mark.penstock(settings={...})` says."""
    marker = request.node.get_closest_marker("penstock")
    chosen = marker.kwargs.get("settings", {}) if marker else {}
    return {key: str(value) for key, value in chosen.items()}


@pytest.fixture
def target(
    request: pytest.FixtureRequest, settings: dict[str, str], tmp_path: Path
) -> Iterator[Target]:
    def note(row: dict[str, Any]) -> None:
        request.node.user_properties.append(("hostile", row))

    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("needs /proc")
    data_dir = tmp_path / "data"
    if target_name(request.config) == "kafka":
        reason = apache_kafka.missing_prerequisite()
        if reason is not None:
            pytest.skip(reason)
        with apache_kafka.ApacheKafka(data_dir, settings) as kafka, ends_within(KAFKA_LIMIT_S):
            yield Target(kafka, note)
    else:
        with Broker(data_dir, settings) as penstock:
            yield Target(penstock, note)
