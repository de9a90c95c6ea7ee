"""The arithmetic and the page of the pipeline benchmark: what its verdicts rest on."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.load.child import LoadFailedError
from bench.page import BROKER, PIPELINES, SECURITY, with_part
from bench.peer import KAFKA, PENSTOCK, PENSTOCK_FSYNC
from bench.pipelines.case import detector, steady
from bench.pipelines.case.outcome import Outcome, Profile
from bench.pipelines.child import Child
from bench.pipelines.scale import QUICK, Scale
from bench.pipelines.schedule import brokers_for
from bench.pipelines.section import Origin, Results, as_json, as_section, figures, from_json
from bench.pipelines.usage import DRIVER, JVM, WORKER, cores, look, spark_role, tree
from bench.pipelines.window import (
    Stretch,
    Window,
    count_at,
    lag_seconds,
    largest_held,
    latencies,
    percentile,
    summarise,
    unseen,
)

STEADY = Stretch(
    rate=1000,
    p50_ms=50,
    p99_ms=200,
    max_ms=300,
    sampled=100,
    unseen=0.0,
    lag_early_s=0.1,
    lag_late_s=0.2,
    produced=10_000,
    verdicts=10_000,
)


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(number) for number in range(100)]
    assert percentile(values, 0.5) == 50
    assert percentile(values, 0.99) == 99
    assert percentile([4.0], 0.99) == 4
    with pytest.raises(ValueError, match="no verdict"):
        percentile([], 0.5)


def test_counts_lie_on_a_line_between_reports() -> None:
    counts = [(10.0, 0), (11.0, 100), (13.0, 200)]
    assert count_at(counts, 9.0) == 0
    assert count_at(counts, 10.5) == 50
    assert count_at(counts, 12.0) == 150
    assert count_at(counts, 99.0) == 200


def line(rate: int, seconds: int, late_s: float = 0.0) -> list[tuple[float, int]]:
    return [(second + late_s, rate * second) for second in range(seconds + 1)]


def test_steady_lag_does_not_grow_and_a_slower_pipeline_falls_behind() -> None:
    window = Window(10.0, 30.0)
    early, late = lag_seconds(line(1000, 40), line(1000, 40, late_s=0.3), window, 1000)
    assert early == pytest.approx(0.3)
    assert late == pytest.approx(0.3)
    early, late = lag_seconds(line(1000, 40), line(900, 40), window, 1000)
    assert late - early > 1


def test_a_latency_is_from_the_call_that_handed_the_payment_over() -> None:
    handed = [(10.0, 100), (10.0, 110), (10.5, 120), (11.0, 130), (12.0, 130)]
    samples = [(99, 50.0), (100, 10.2), (109, 10.3), (110, 10.6), (129, 12.0), (130, 50.0)]
    found = latencies(samples, handed, Window(10.0, 12.0))
    assert found == pytest.approx([100, 200, 300, 1000])
    assert latencies(samples, handed, Window(10.1, 11.0)) == pytest.approx([100])


def test_payments_without_a_verdict_count_with_the_time_they_waited() -> None:
    window = Window(10.0, 20.0)
    assert unseen(1000, 995, 25.0, window) == []
    missing = unseen(1000, 500, 25.0, window)
    assert len(missing) == 500
    assert (min(missing), max(missing)) == pytest.approx((5_000, 9_990))
    found = summarise([], line(1000, 30), [(0.0, 0), (30.0, 0)], window)
    assert found.p50_ms == pytest.approx(15_000, rel=0.01)
    assert found.unseen == 1.0
    assert found.lag_grows


def test_only_what_was_produced_in_the_window_counts() -> None:
    samples = [(5_000, 99.0), (9_500, 10.02), (18_500, 19.04), (19_500, 99.0)]
    window = Window(10.0, 20.0)
    found = summarise(samples, line(1000, 30), line(1000, 30), window, every=5_000)
    assert (found.sampled, found.p50_ms, found.max_ms) == pytest.approx((2, 40.0, 40.0))
    assert found.rate == pytest.approx(1000)
    assert not found.lag_grows


def test_a_rate_holds_when_latency_lag_and_load_do() -> None:
    assert STEADY.holds(1000, 500)
    assert not replace(STEADY, p99_ms=500).holds(1000, 500)
    assert not replace(STEADY, lag_late_s=0.7).holds(1000, 500)
    assert not STEADY.holds(1100, 500)


def test_the_largest_rate_is_that_of_an_unbroken_climb() -> None:
    fast = {rate: replace(STEADY, rate=rate) for rate in (10, 20, 30)}
    assert largest_held(fast, 500) == 30
    fast[20] = replace(fast[20], p99_ms=900)
    assert largest_held(fast, 500) == 10
    fast[10] = replace(fast[10], p99_ms=900)
    assert largest_held(fast, 500) == 0


class HandedInFifties:
    """Generator and meter of a detector whose rows come through fifty at a time."""

    def __init__(self) -> None:
        self.sent = 0
        self.asked: list[dict[str, Any]] = []

    def ask(
        self, word: str, spec: dict[str, Any] | None = None, timeout_s: float = 0
    ) -> dict[str, Any]:
        if word == "go" and spec is not None:
            self.sent += int(spec["rate"] * spec["seconds"]) - 1
            self.asked.append(spec)
        return {"sent": self.sent, "count": self.sent // 50 * 50}


@pytest.mark.parametrize("held_back", [50, 0])
def test_payments_that_wait_for_the_next_ones_are_not_waited_for(
    held_back: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steady, "FIRST_VERDICT_S", 0.01)
    child: Any = HandedInFifties()
    line = steady.Line(Any, child, child, child, QUICK, held_back)  # type: ignore[arg-type]
    if held_back:
        line.first_verdict()
        assert line.drain(child.sent, 0.01) == 0
        assert child.sent >= 199 + held_back
    else:
        with pytest.raises(LoadFailedError, match="not all of 199 verdicts"):
            line.first_verdict()


def test_the_processor_time_of_a_family_is_seen() -> None:
    assert os.getpid() in tree(os.getppid())
    assert spark_role(7, 7, "python") == DRIVER
    assert spark_role(8, 7, "java") == JVM
    assert spark_role(9, 7, "python3.11") == WORKER
    assert look(None, {"me": os.getpid()})["me"] > 0
    assert cores({"a": 1.0}, {"a": 2.0, "b": 1.0}, 2.0) == {"a": 0.5, "b": 0.5}


def test_a_child_that_dies_is_told_with_its_last_words(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('out of ideas')"]
    with (
        Child(command, tmp_path / "log", "thinker") as child,
        pytest.raises(LoadFailedError, match="thinker ended: out of ideas"),
    ):
        child.wait_ready(20)


def test_a_child_takes_its_own_children_with_it(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys\n"
        "one = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        "print('@answer {\"pid\": %d}' % one.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    child = Child([sys.executable, "-c", script], tmp_path / "log", "parent")
    with child:
        child.wait_ready(20)
        (grandchild,) = tree(child.pid) - {child.pid}
    assert not child.is_alive
    deadline = time.monotonic() + 20
    while _is_running(grandchild):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_each_part_of_the_page_survives_the_other() -> None:
    page = with_part("", BROKER, "# Benchmarks\n\nold\n")
    assert page == "# Benchmarks\n\nold\n"
    page = with_part(page, PIPELINES, "## Pipelines\n\none\n")
    page = with_part(page, BROKER, "# Benchmarks\n\nnew\n")
    assert "old" not in page
    assert page.index("new") < page.index("one")
    again = with_part(with_part(page, PIPELINES, "## Pipelines\n\ntwo\n"), BROKER, "# Benchmarks\n")
    assert "one" not in again
    assert again.count("## Pipelines") == 1
    assert with_part(again, BROKER, "# Benchmarks\n") == again
    three = with_part(again, SECURITY, "## Security\n")
    assert three.index("# Benchmarks") < three.index("## Security") < three.index("## Pipelines")
    assert with_part(three, PIPELINES, "## Pipelines\n\ntwo\n") == three


@pytest.fixture
def results() -> Results:
    results = Results()
    for broker, p99 in ((PENSTOCK, 120.0), (KAFKA, 140.0)):
        outcome = Outcome()
        for shift in (0.0, 10.0, 500.0):
            outcome.add({"stateless.p99": p99 + shift})
        query = {
            "name": "query",
            "batches": 4,
            "rows": 400,
            "median_ms": {"addBatch": 80.0, "walCommit": 12.0},
            "longest_ms": 130.0,
        }
        outcome.profiles["stateless, 5,000/s"] = Profile({"broker": 0.25, JVM: 1.0}, [query])
        results.outcomes.setdefault("stateless", {})[broker] = outcome
    results.failures.append("read, kafka: disk full\nmore")
    return results


def test_figures_are_medians_beside_kafka(results: Results) -> None:
    (found,) = figures(results, QUICK)
    row = found.beside_kafka(PENSTOCK)
    assert (row.value, row.kafka, row.is_met) == (130.0, 150.0, True)


def test_penstock_with_its_flush_has_a_column_and_a_verdict_of_its_own(results: Results) -> None:
    slower = Outcome()
    slower.add({"stateless.p99": 300.0})
    results.outcomes["stateless"][PENSTOCK_FSYNC] = slower
    text = as_section(results, QUICK, {}, {"rounds": 1})
    cells = "| 150 ms | 300 ms | 2.00 | 130 ms | 0.87 | at most 150 ms | **missed** (Penstock) |"
    assert f"| stateless verdicts, 5,000/s, p99 {cells}" in text
    assert "Penstock: 0 of 1 bars met. Missed: stateless verdicts, 5,000/s, p99." in text
    assert "Penstock, no flush: 1 of 1 bars met.\n" in text
    header = next(line for line in text.splitlines() if line.startswith("| work | Apache"))
    rule = text.splitlines()[text.splitlines().index(header) + 1]
    assert header.count("|") == rule.count("|") == f"| x {cells}".count("|")


class Straight:
    """A line on which every rate has the same figures."""

    def __init__(self, scale: Scale) -> None:
        self.scale = scale

    def run(self, rate: int, warmup_s: float, seconds: float) -> tuple[Stretch, Profile]:
        return replace(STEADY, rate=rate, p99_ms=rate / 100), Profile({}, [])


@pytest.mark.parametrize(
    ("ladder", "keys"),
    [
        ((10_000,), {"low"}),
        ((10_000, 50_000), {"low", "high"}),
        ((10_000, 30_000, 50_000), {"low", "high", "held"}),
    ],
)
def test_a_rate_has_a_row_only_where_it_was_measured(
    ladder: tuple[int, ...], keys: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scale = replace(QUICK, ladder=ladder)
    monkeypatch.setattr(detector, "line", lambda *_: nullcontext(Straight(scale)))
    place: Any = None
    outcome = detector.realtime(place, scale, 1, lambda _: None)
    assert {key.split(".")[1] for key in outcome.values} == keys
    assert outcome.values["realtime.low.p99"] == [100.0]
    if "high" in keys:
        assert outcome.values["realtime.high.p99"] == [500.0]


def test_the_largest_rate_is_looked_for_on_one_broker_alone() -> None:
    scale = replace(QUICK, ladder=(1, 2, 3))
    assert scale.is_climb
    assert scale.without_climb().ladder == (1, 3)
    assert replace(scale, ladder=(1,)).without_climb().ladder == (1,)


def test_a_flush_is_measured_where_it_could_be_felt() -> None:
    assert brokers_for("detector", None) == (PENSTOCK, PENSTOCK_FSYNC, KAFKA)
    assert brokers_for("read", None) == (PENSTOCK, KAFKA)
    assert brokers_for("read", [KAFKA]) == [KAFKA]


def test_a_part_measured_anew_stands_beside_the_rest(results: Results) -> None:
    how = {"rounds": 1, "quick": False, "only": "stateless"}
    for broker in (PENSTOCK, KAFKA):
        results.came_from("stateless", broker, Origin(QUICK, "1, commit a"))
    kept = from_json(json.loads(json.dumps(as_json(results, QUICK, {}, how))))
    assert (kept.outcomes, kept.origins) == (results.outcomes, results.origins)
    now = replace(QUICK, stateless_rate=7, measured_seconds=9.0)
    kept.came_from("stateless", PENSTOCK, Origin(QUICK, "1, commit b"))
    text = as_section(kept, now, {"Penstock": "1, commit b"}, how)
    own = "is of a run of its own:"
    assert f"- stateless on Apache Kafka {own} Penstock 1, commit a, 6 s measured\n" in text
    assert f"- stateless on Penstock, no flush {own} 6 s measured\n" in text
    assert "| stateless verdicts, 5,000/s, p99 |" in text


def test_the_section_shows_bars_profiles_and_failures(results: Results) -> None:
    how = {"rounds": 3, "quick": False, "only": "stateless"}
    text = as_section(results, QUICK, {"processor": "two cores"}, how)
    assert (
        "| stateless verdicts, 5,000/s, p99 | 150 ms | 130 ms | 0.87 | at most 150 ms | met |"
        in text
    )
    assert "| stateless, 5,000/s | Penstock, no flush | 0.25 | 1.00 | 1.25 |" in text
    assert "4 batches of 100 rows, longest 130 ms: addBatch 80 ms, walCommit 12 ms" in text
    assert "- read, kafka: disk full\n" in text
    assert "1 of 1 bars met." in text
    kept = json.loads(json.dumps(as_json(results, QUICK, {}, how)))
    assert kept["outcomes"]["stateless"][KAFKA]["values"]["stateless.p99"][0] == 140.0
