"""The comparison of a topic with its copy, with planted faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.testing.history import Assign, Begin, End, Outcome
from tools.exactly_once.checker import differences
from tools.exactly_once.outcome import HEADING, Result, render
from tools.page import read_section, write_section


def new_result(seed: int) -> Result:
    return Result(target="penstock", seed=seed, fault=None, copiers=3)


SOURCE = {0: ["a", "b", "c"], 1: ["x", "y"]}


def test_a_copy_is_right() -> None:
    assert list(differences(SOURCE, {0: ["a", "b", "c"], 1: ["x", "y"]})) == []


@pytest.mark.parametrize(
    ("copy", "found"),
    [
        ({0: ["a", "c"], 1: ["x", "y"]}, ["partition 0: not copied: 'b'"]),
        ({0: ["a", "b", "b", "c"], 1: ["x", "y"]}, ["partition 0: copied 2 times: 'b'"]),
        (
            {0: ["a", "b", "c", "z"], 1: ["x", "y"]},
            ["partition 0: copied from nowhere: 'z'"],
        ),
        (
            {0: ["a", "b", "c"], 1: ["y", "x"]},
            ["partition 1: in another order: 'y' before 'x'"],
        ),
        (
            {0: ["a", "b"], 1: ["x", "c", "y"]},
            ["partition 0: not copied: 'c'", "partition 1: copied from nowhere: 'c'"],
        ),
        ({0: ["a", "b", "c"]}, ["partition 1: not copied: 'x'", "partition 1: not copied: 'y'"]),
    ],
)
def test_a_copy_is_wrong(copy: dict[int, list[str]], found: list[str]) -> None:
    assert list(differences(SOURCE, copy)) == found


def test_the_ends_of_transactions_are_counted() -> None:
    result = new_result(1)
    answered = {"process": "p", "outcome": Outcome.OK}
    result.count(
        [
            *(Begin(process="p", transaction=name) for name in "abc"),
            End(transaction="a", commit=True, **answered),
            End(transaction="b", commit=True, process="p", outcome=Outcome.UNKNOWN),
            Assign(process="p", partition=None, group="g"),  # type: ignore[arg-type]
        ]
    )
    assert result.transactions == {"committed": 1, "commit unanswered": 1, "died before its end": 1}
    assert result.assignments == 1


def test_only_its_own_section_of_the_page_is_written(tmp_path: Path) -> None:
    page = tmp_path / "reliability.md"
    page.write_text(
        f"# Reliability\n\nFirst.\n\n{HEADING}\n\nold\n\n### old too\n\n## Third\n\nx\n"
    )
    for seed in (41, 42):
        write_section(page, "# New", HEADING, render(new_result(seed)))
    text = page.read_text()
    assert text.startswith("# Reliability\n\nFirst.\n\n## Exactly once under fire\n")
    assert text.endswith("\n\n## Third\n\nx\n")
    assert "old" not in text
    assert "seed 42" in text
    assert "seed 41" not in text
    assert read_section(page, HEADING) == render(new_result(42))


def test_a_section_of_a_new_page(tmp_path: Path) -> None:
    page = tmp_path / "reliability.md"
    assert read_section(page, HEADING) == ""
    write_section(page, "# Reliability", HEADING, render(None))
    assert page.read_text() == "# Reliability\n\n" + render(None)
