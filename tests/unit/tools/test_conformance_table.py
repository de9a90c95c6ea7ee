"""The conformance page says what the reports say, and hides no failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools import conformance_table


def result(section: str, feature: str, client: str, outcome: str) -> dict[str, str]:
    return {"section": section, "feature": feature, "client": client, "outcome": outcome}


def page(tmp_path: Path, **reports: list[dict[str, str]]) -> str:
    paths = []
    for target, results in reports.items():
        path = tmp_path / f"{target}.json"
        path.write_text(json.dumps({"target": target, "results": results}))
        paths.append(path)
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
