"""The conformance page says what the reports say, and hides no failure."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from tools import access_comparison, conformance_table

ROOT = Path(__file__).parents[3]

Result = dict[str, str | int]
_numbers = itertools.count()


def result(section: str, feature: str, client: str, outcome: str, tries: int = 1) -> Result:
    where = {"section": section, "feature": feature, "client": client}
    return {**where, "test": f"test-{next(_numbers)}", "outcome": outcome, "tries": tries}


def report(tmp_path: Path, name: str, target: str, results: list[Result]) -> Path:
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps({"target": target, "results": results}))
    return path


def page(tmp_path: Path, **reports: list[Result]) -> str:
    paths = [report(tmp_path, target, target, results) for target, results in reports.items()]
    return conformance_table.render(*conformance_table.read_reports(paths))


@pytest.mark.parametrize(("second", "mark"), [("passed", "✓"), ("failed", "✗")])
def test_a_feature_passes_when_all_its_tests_do(tmp_path: Path, second: str, mark: str) -> None:
    shown = [
        result("Produce", "Headers", "aiokafka", "passed"),
        result("Produce", "Headers", "aiokafka", second),
    ]
    assert f"| Headers |  |  | {mark} | – |" in page(tmp_path, penstock=shown)


def test_both_targets_stand_side_by_side(tmp_path: Path) -> None:
    text = page(
        tmp_path,
        penstock=[result("Tools", "--list", "kafka-topics", "failed")],
        kafka=[result("Tools", "--list", "kafka-topics", "passed")],
    )
    assert "| `kafka-topics` | --list | ✗ | ✓ |" in text
    assert "- Penstock: 1 failed of 1 tests" in text
    assert "- Apache Kafka 4.3.0: 1 passed of 1 tests" in text


def test_a_target_that_did_not_run_is_named(tmp_path: Path) -> None:
    text = page(tmp_path, kafka=[result("Produce", "Headers", "aiokafka", "skipped")])
    assert "- Penstock: not run" in text
    assert "| Headers |  |  | – | skipped |" in text


def test_other_clients_have_a_column_where_they_have_results(tmp_path: Path) -> None:
    text = page(
        tmp_path,
        penstock=[
            result("Groups", "Sharing", "Java client", "passed"),
            result("Groups", "Sharing", "confluent-kafka", "passed"),
            result("Refusals", "Nobody", "raw requests", "passed"),
        ],
    )
    assert "| Feature | confluent-kafka | kafka-python | aiokafka | Java client |" in text
    assert "| Sharing | ✓ |  |  | ✓ | – |" in text
    assert "| Nobody | ✓ | – |" in text


def test_second_tries_are_told(tmp_path: Path) -> None:
    shown = [
        result("Produce", "Headers", "aiokafka", "passed", tries=2),
        result("Produce", "Codecs", "aiokafka", "passed"),
    ]
    text = page(tmp_path, penstock=shown)
    assert "- Penstock: 2 passed of 2 tests, 1 of them at the second try" in text


def test_a_later_report_counts_for_the_tests_in_it(tmp_path: Path) -> None:
    kept = result("Produce", "Headers", "aiokafka", "passed")
    broken = result("Produce", "Codecs", "aiokafka", "failed")
    paths = [
        report(tmp_path, "all", "penstock", [kept, broken]),
        report(tmp_path, "some", "penstock", [{**broken, "outcome": "passed"}]),
    ]
    text = conformance_table.render(*conformance_table.read_reports(paths))
    assert "- Penstock: 2 passed of 2 tests" in text


def test_three_nodes_have_a_column_once_they_ran(tmp_path: Path) -> None:
    one = [result("Produce", "Headers", "aiokafka", "passed")]
    three = [result("Produce", "Headers", "aiokafka", "failed")]
    assert "three nodes" not in page(tmp_path, penstock=one).partition("## ")[2]
    text = page(tmp_path, penstock=one, cluster=three, kafka=one)
    assert "| Headers |  |  | ✓ | ✗ | ✓ |" in text
    assert "- Penstock, three nodes: 1 failed of 1 tests" in text


def test_every_section_has_its_place() -> None:
    files = (ROOT / "tests" / "conformance").glob("test_*.py")
    texts = [text for text in (file.read_text() for file in files) if "mark.feature(" in text]
    first_lines = {text.splitlines()[0].strip('"').rstrip(".") for text in texts}
    assert first_lines <= set(conformance_table.SECTIONS)


def test_the_page_has_the_comparison_that_is_kept() -> None:
    page = (ROOT / "docs" / "conformance.md").read_text()
    report = json.loads((ROOT / access_comparison.KEPT).read_text())
    assert page.endswith(access_comparison.section(report))


def test_a_difference_without_a_reason_is_counted() -> None:
    question = {"api": "Fetch", "question": "fetch", "versions": [4, 5]}
    counts = {"answers": 6, "same": 3, "argued": 2}
    text = access_comparison.section(
        {"kafka": "4.3.0", "users": 3, "questions": [question | counts], "differences": []}
    )
    assert "| Fetch | fetch | 4–5 | 6 | 3 | 2 |" in text
    words = " ".join(text.split())
    assert "2 questions with 6 answers; 3 are Apache Kafka's 4.3.0, 2 differ for" in words
    assert "and 1 for none" in words
