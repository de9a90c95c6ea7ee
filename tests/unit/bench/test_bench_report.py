"""The benchmark's verdicts: bars, medians and peaks, and the page they end up on."""

from __future__ import annotations

import json

import pytest

from bench.metric import METRICS, Bar, Kind
from bench.peer import KAFKA, PENSTOCK, PENSTOCK_FSYNC, PENSTOCK_UNREAD
from bench.report import as_json, as_page, rows
from bench.schedule import Results

HOW = {"rounds": 3, "quick": False, "only": "produce"}
BY_KEY = {metric.key: metric for metric in METRICS}


@pytest.mark.parametrize(
    ("kind", "limit", "value", "kafka", "met"),
    [
        (Kind.TIMES_AT_LEAST, 1.5, 15.0, 10.0, True),
        (Kind.TIMES_AT_LEAST, 1.5, 14.9, 10.0, False),
        (Kind.TIMES_AT_MOST, 0.5, 5.0, 10.0, True),
        (Kind.TIMES_AT_MOST, 0.5, 5.1, 10.0, False),
        (Kind.TIMES_AT_MOST, 0.5, 5.1, None, None),
        (Kind.AT_MOST, 60.0, 60.0, None, True),
        (Kind.AT_MOST, 60.0, 60.1, 500.0, False),
    ],
)
def test_a_bar(kind: Kind, limit: float, value: float, kafka: float | None, met: bool) -> None:
    assert Bar(kind, limit).is_met(value, kafka) is met


def test_a_figure_is_the_median_and_a_peak_the_highest() -> None:
    results = Results()
    for value in (100.0, 300.0, 110.0):
        results.add(PENSTOCK, {"memory.idle": value, "memory.load": value})
    assert results.figure(BY_KEY["memory.idle"], PENSTOCK) == 110.0
    assert results.figure(BY_KEY["memory.load"], PENSTOCK) == 300.0
    assert results.figure(BY_KEY["start"], PENSTOCK) is None


@pytest.fixture
def results() -> Results:
    results = Results()
    for name, rate in ((KAFKA, 100_000.0), (PENSTOCK, 160_000.0), (PENSTOCK_FSYNC, 90_000.0)):
        results.add(name, {"produce.librdkafka.100": rate})
    return results


def test_each_peer_is_held_against_its_own_bar(results: Results) -> None:
    assert [(row.peer, row.ratio, row.is_met) for row in rows(results)] == [
        (PENSTOCK, 1.6, True),
        (PENSTOCK_FSYNC, 0.9, False),
    ]


def test_the_page_says_what_was_missed_and_what_failed(results: Results) -> None:
    results.failures.append("idle, kafka: no\nmore")
    page = as_page(results, {"processor": "two cores"}, HOW)
    assert "1 of 2 bars met." in page
    assert "| 160,000 records/s | 1.60 |" in page
    assert "Missed: produce, librdkafka, 100 B (Penstock with fsync" in page
    assert "- idle, kafka: no\n" in page


@pytest.mark.parametrize(("rate", "verdict"), [(165_000.0, "met"), (170_000.0, "**missed**")])
def test_what_the_checks_cost_is_a_table_of_its_own(
    results: Results, rate: float, verdict: str
) -> None:
    assert "not read" not in as_page(results, {}, HOW)
    results.add(PENSTOCK_UNREAD, {"produce.librdkafka.100": rate, "memory.load": 30.0})
    page = as_page(results, {}, HOW)
    ratio = f"{160_000 / rate:.2f}"
    assert f"| 160,000 records/s | {ratio} | at least 0.95 × | {verdict} |" in page
    assert "1 of 2 bars met." in page


def test_a_bar_without_a_figure_still_has_its_row() -> None:
    results = Results()
    results.add(KAFKA, {"idle.cpu": 3.0})
    assert [(row.metric.key, row.value) for row in rows(results)] == [("idle.cpu", None)]


def test_the_values_are_kept_as_json(results: Results) -> None:
    kept = json.loads(json.dumps(as_json(results, {}, HOW)))
    assert kept["values"]["produce.librdkafka.100"][KAFKA] == [100_000.0]
    assert kept["rows"][0]["met"] is True
