"""`penstock fraud` as it is typed, and what it does not import."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from penstock.cli.main import main
from penstock.pipelines.jobs.fraud.model import PAYMENTS, RULES
from penstock.pipelines.jobs.fraud.rule import DEFAULT_RULES
from penstock.testing.broker import Broker


@pytest.fixture
def fraud(penstock: Broker, capsys: pytest.CaptureFixture[str]) -> object:
    def run(*arguments: str, code: int = 0) -> str:
        assert main(["fraud", *arguments, "-b", penstock.bootstrap_servers]) == code
        said = capsys.readouterr()
        return said.out if code == 0 else said.err or said.out

    return run


def test_rules_are_set_changed_and_withdrawn(fraud, penstock: Broker) -> None:  # type: ignore[no-untyped-def]
    assert "no rules yet" in fraud("rules", "list")
    fraud("rules", "set", "velocity-1m", "count=9")
    rules = json.loads(fraud("rules", "list", "--json"))
    assert set(rules) == set(DEFAULT_RULES)
    assert rules["velocity-1m"]["count"] == 9
    assert rules["velocity-1m"]["window_ms"] == 60_000
    fraud("rules", "set", "blocked", "--kind", "merchants", "merchants=shop-7, shop-9")
    rules = json.loads(fraud("rules", "list", "--json"))
    assert rules["blocked"]["merchants"] == ["shop-7", "shop-9"]
    assert "merchants=shop-7,shop-9" in fraud("rules", "list")
    fraud("rules", "withdraw", "blocked")
    assert "blocked" not in json.loads(fraud("rules", "list", "--json"))
    assert penstock.read(RULES)[-1].value is None


def test_rules_that_make_no_sense_are_refused(fraud) -> None:  # type: ignore[no-untyped-def]
    assert "needs its --kind" in fraud("rules", "set", "mine", "count=1", code=1)
    assert "none of velocity" in fraud("rules", "set", "mine", "--kind", "hunch", code=1)
    assert "velocity has no speed" in fraud("rules", "set", "velocity-1m", "speed=1", code=1)
    assert "count cannot be 'x'" in fraud("rules", "set", "velocity-1m", "count=x", code=1)
    assert "nothing to set" in fraud("rules", "set", "velocity-1m", code=2)
    assert "there is no rule mine" in fraud("rules", "withdraw", "mine", code=1)


def test_generated_payments_without_verdicts_are_missed(fraud, penstock: Broker) -> None:  # type: ignore[no-untyped-def]
    said = json.loads(
        fraud("generate", "--count", "500", "--rate", "20000", "--seed", "9", "-p", "2", "--json")
    )
    assert (said["seed"], said["payments"]) == (9, 500)
    assert len(penstock.read(PAYMENTS)) == 500
    shown = fraud("check", code=1)
    assert "payments without a verdict, such as payments-" in shown
    document = json.loads(fraud("check", "--json", code=1))
    assert document["payments"] == 500
    assert not document["holds"]


def test_there_is_nothing_to_hold_against(fraud) -> None:  # type: ignore[no-untyped-def]
    assert "there is no topic payments" in fraud("check", code=1)


def test_none_of_this_imports_spark() -> None:
    program = (
        "import sys\n"
        "from penstock.cli.command_table import CommandTable\n"
        "assert len(dict(CommandTable({}))) > 30\n"
        "heavy = {'numpy', 'orjson', 'confluent_kafka', 'pyspark'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "import penstock.pipelines.redrive, penstock.pipelines.jobs.fraud.checker\n"
        "import penstock.pipelines.jobs.fraud.rule_book, penstock.pipelines.jobs.fraud.job\n"
        "assert 'pyspark' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
