"""What is under test, one Penstock node, three of them, or Apache Kafka, and the report of it.

The same tests run against all: `--target kafka` proves that an expectation is Kafka's own, and
`--target cluster` that it does not matter which of three nodes is asked.
`--conformance-report FILE` writes the results that tools/conformance_table.py makes a page of.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

_results: dict[str, dict[str, Any]] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    targets = ["penstock", "cluster", "kafka"]
    parser.addoption("--target", choices=targets, help="what is under test")
    parser.addoption("--conformance-report", metavar="FILE", help="write the results as JSON")


def pytest_configure(config: pytest.Config) -> None:
    for line in (
        "feature(text, section): what this test shows, a row of docs/conformance.md",
        "client(name): the client or tool under test, where it is not a parameter",
        "one_node(reason): what this test shows is only so where there is one node",
    ):
        config.addinivalue_line("markers", line)


def target_name(config: pytest.Config) -> str:
    return config.getoption("target", None) or os.environ.get("CONFORMANCE_TARGET", "penstock")


def pytest_runtest_setup(item: pytest.Item) -> None:
    marker = item.get_closest_marker("one_node")
    if marker is not None and target_name(item.config) == "cluster":
        pytest.skip(f"one node: {marker.args[0]}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Where the test ran, which may be a worker: the result travels with pytest's own report."""
    report = yield
    feature = item.get_closest_marker("feature")
    if feature is not None and (report.when == "call" or not report.passed):
        first_line = item.module.__doc__.splitlines()[0]  # type: ignore[attr-defined]
        report.conformance = {
            "section": feature.kwargs.get("section", first_line.rstrip(".")),
            "feature": feature.args[0],
            "client": _client_name(item),
            "test": item.nodeid,
            "outcome": report.outcome,
            "tries": getattr(item, "execution_count", 1),
        }
    return report


def _client_name(item: pytest.Item) -> str:
    marker = item.get_closest_marker("client")
    if marker is not None:
        return str(marker.args[0])
    params = item.callspec.params  # type: ignore[attr-defined]
    return str(params.get("client") or params["admin_client"])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    result = getattr(report, "conformance", None)
    if result is None:
        return
    # Of a test that is tried again, what the last try showed, and which try that was.
    known = _results.get(result["test"], {"tries": 0, "outcome": "none"})
    if (known["tries"], known["outcome"]) != (result["tries"], "failed"):
        _results[result["test"]] = result


def pytest_sessionfinish(session: pytest.Session) -> None:
    path = session.config.getoption("conformance_report", None)
    if path and _results and not hasattr(session.config, "workerinput"):
        content = {"target": target_name(session.config), "results": list(_results.values())}
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(json.dumps(content, indent=1))
