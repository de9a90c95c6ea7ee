"""`penstock cluster info`, and records that are no dead letters, against a running broker."""

from __future__ import annotations

import pytest

from penstock.cli.cluster_info import release
from penstock.cli.output import show_age
from tests.unit.cli.conftest import Command
from tests.unit.cli.test_cli_prompt import terminal


def test_cluster_info(command: Command, topic: str) -> None:
    before = command.run("cluster", "info", "--json").json
    command.run("topics", "create", topic, "-p", "4")
    info = command.run("cluster", "info", "--json").json
    assert info["topics"] >= before["topics"] + 1
    assert info["partitions"] >= before["partitions"] + 4
    (broker,) = info["brokers"]
    assert f"{broker['host']}:{broker['port']}" == command.servers
    assert (broker["controller"], info["controller"]) == (True, broker["id"])
    assert info["kafka_version"] == "4.3"
    assert info["features"]["metadata.version"] == 30
    lines = command.run("cluster", "info").lines
    assert lines[0] == f"cluster     {info['cluster_id']}"
    assert ["BROKER", "HOST", "PORT", "RACK"] in [line.split() for line in lines]


@pytest.mark.parametrize(
    ("level", "name"),
    [(None, None), (3, None), (7, "3.3"), (19, "3.7"), (25, "4.0"), (29, "4.2"), (99, "4.3")],
)
def test_releases(level: int | None, name: str | None) -> None:
    assert release(level) == name


def test_ordinary_records_are_no_dead_letters(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    command.run("produce", topic, "-v", "x")
    for options in ((), ("--json",)):
        said = command.fail("dlq", "show", topic, *options)
        assert said.startswith(f"{topic} holds records that are no dead letters, such as 0:0;")
    assert "(no dead letter)" in command.run("dlq", "list", topic).lines[1]


def test_dead_letters_fit_a_terminal(command: Command, topic: str) -> None:
    """None of the cells is broken over lines at 100 columns."""
    dead = f"{topic}.dead-letters"
    command.run("topics", "create", dead, "-p", "1")
    headers = ("-H", "penstock.dlq.topic=orders", "-H", "penstock.dlq.error=PaymentError")
    command.run("produce", dead, "-v", "x", *headers)
    seen = terminal(command, f"penstock dlq list {dead}", columns=100)
    (row,) = [line for line in seen.splitlines() if dead in line]
    assert row.split()[:5] == [dead, "PaymentError", "1", "1", "orders"]
    assert row.split()[-1] == "ago"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "0s ago"), (59, "59s ago"), (60, "1m ago"), (7199, "1h ago"), (200_000, "2d ago")],
)
def test_ages(seconds: int, text: str) -> None:
    assert show_age(1_000_000, 1_000_000 + seconds * 1000) == text


def test_empty_internal_partitions_are_hidden_unless_asked_for(
    command: Command, topic: str
) -> None:
    command.run("topics", "create", topic, "-p", "1")
    command.run("produce", topic, "-v", "x")
    command.try_run("consume", topic, "--group", f"g-{topic}")

    def sizes(*options: str) -> dict[tuple[str, int], int]:
        (directory,) = command.run("log-dirs", "--json", *options).json
        return {
            (each["topic"], each["partition"]): each["size_bytes"]
            for each in directory["partitions"]
        }

    every, usual = sizes("--internal"), sizes()
    hidden = {place for place in every if place[0].startswith("__") and not every[place]}
    assert set(every) - hidden <= set(usual)
    assert not hidden & set(usual)
    assert (topic, 0) in usual
    assert sizes("-t", "__consumer_offsets").keys() == {
        place for place in every if place[0] == "__consumer_offsets"
    }
