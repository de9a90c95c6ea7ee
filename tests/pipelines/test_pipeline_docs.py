"""docs/pipelines.md is true: every piece of Python in it is run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.docs_kit import python_block


def orders_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    import importlib

    (tmp_path / "orders.py").write_text(python_block("def big_orders"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "orders", raising=False)
    return importlib.import_module("orders")


def test_the_tests(
    penstock: Any,
    spark: Any,
    pipeline_run: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    orders_module(tmp_path, monkeypatch)
    told: dict[str, Any] = {}
    exec(python_block("def test_big_orders"), told)
    told["test_big_orders"](penstock, pipeline_run)
    told["test_the_rule_alone"](spark)


def test_the_table(penstock: Any, pipeline_run: Callable[..., Any]) -> None:
    told: dict[str, Any] = {}
    exec(python_block("def big_orders"), told)
    exec(python_block("def over_limit"), told)
    penstock.create_topic("limits", config={"cleanup.policy": "compact"})
    penstock.produce("limits", [("ann", '{"most": 100}'), ("bob", '{"most": 1000}')])
    penstock.create_topic("orders")
    made = [("o1", "ann"), ("o2", "bob"), ("o3", "eve")]
    said = [{"id": each, "customer": who, "amount": 250} for each, who in made]
    penstock.produce("orders", [json.dumps(each) for each in said])
    pipeline_run(told["over_limit"])
    assert [each.key for each in penstock.read("over-limit")] == [b"o1"]


def test_the_function_for_each_record(penstock: Any, pipeline_run: Callable[..., Any]) -> None:
    told: dict[str, Any] = {"__name__": "__main__", "look_up": {"ann": 2, "bob": 0}.__getitem__}
    exec(python_block("def shares"), told)
    penstock.create_topic("orders")
    said = [{"id": who, "customer": who, "amount": 250} for who in ("ann", "bob", "eve")]
    penstock.produce("orders", [json.dumps(each) for each in said])
    assert pipeline_run(told["shares"]).dead_letters == 2
    assert [(each.key, each.value) for each in penstock.read("shares")] == [(b"ann", b"125.0")]


def test_the_expectations(penstock: Any, pipeline_run: Callable[..., Any]) -> None:
    told: dict[str, Any] = {}
    exec(python_block("def amounts"), told)
    penstock.create_topic("orders")
    said = [{"id": "o1", "customer": "ann", "amount": 5}, {"id": "o2", "amount": -5}]
    penstock.produce("orders", [json.dumps(each) for each in said])
    progress = pipeline_run(told["amounts"])
    assert progress.extra["expectations"]["orders"]["known customer"]["failed"] == 1
    assert (progress.output_rows, progress.dead_letters) == (1, 1)


def test_from_python(
    penstock: Any, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    module = orders_module(tmp_path, monkeypatch)
    penstock.create_topic("orders")
    code = python_block("import RunSettings, session")
    code = code.replace("127.0.0.1:9092", penstock.bootstrap_servers)
    code = code.replace('"penstock-pipelines"', repr(str(tmp_path / "p"))).replace("(60)", "(1)")
    exec(code, {"big_orders": module.big_orders})
    assert "Progress(" in capsys.readouterr().out
