"""`penstock quotas` against a running broker."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.quota import entity_of, parse_values
from penstock.cli.quota_top import Figures, usages, watch
from penstock.node.address import Address
from penstock.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from tests.node.node_kit import running
from tests.node.test_full_disk import create
from tests.node.wire_kit import PRODUCE_VERSION, Wire, batch, produce
from tests.unit.cli.conftest import Command


def listed(command: Command, client: str) -> list[dict[str, object]]:
    found = command.run("quotas", "list", "--json").json
    return [each for each in found if each["entity"].get("client-id") == client]


def test_quotas_from_setting_to_taking_away(command: Command, topic: str) -> None:
    """The name of a topic that nobody else uses names a client as well."""
    whose = ("--client", topic)
    said = command.run("quotas", "set", *whose, "producer_byte_rate=5M", "request_percentage=12.5")
    assert said.lines == [
        f"client-id {topic}: producer_byte_rate = 5242880",
        f"client-id {topic}: request_percentage = 12.5",
    ]
    assert listed(command, topic) == [
        {
            "entity": {"client-id": topic},
            "quotas": {"producer_byte_rate": 5242880.0, "request_percentage": 12.5},
        },
    ]
    gone = command.run("quotas", "unset", *whose, "request_percentage").lines
    assert gone == [f"client-id {topic}: request_percentage is no longer set"]
    command.run("quotas", "unset", *whose)
    assert listed(command, topic) == []
    assert command.fail("quotas", "unset", *whose) == "no quota is set there"


def test_the_commands_of_the_page(command: Command) -> None:
    page = (Path(__file__).parents[3] / "docs" / "security.md").read_text()
    section = page.partition("## Quotas")[2].partition("\n## ")[0]
    lines = re.findall(r"^penstock (quotas (?!top).*)$", section, re.MULTILINE)
    assert len(lines) > 5
    try:
        for line in lines:
            command.run(*shlex.split(line))
        shown = command.run("quotas", "list").lines
        assert shown[0].split() == ["OF", "QUOTA", "VALUE"]
        assert any(line.startswith("user (default)") for line in shown)
    finally:
        for whose in (("--default-client",), ("--default-user",), ("--user", "alice")):
            command.run("quotas", "unset", *whose)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"speed": "5"}, "there is no quota speed"),
        ({"producer_byte_rate": "fast"}, "producer_byte_rate takes a number above 0 such as 5M"),
        ({"request_percentage": "5M"}, "request_percentage takes a number above 0 such as 10"),
        ({"consumer_byte_rate": "0"}, "consumer_byte_rate takes a number above 0"),
    ],
)
def test_values_that_make_no_sense_are_refused(values: dict[str, str], said: str) -> None:
    with pytest.raises(UsageFailure, match=said):
        parse_values(values)


def test_whose_quota_it_is_has_to_be_said() -> None:
    nobody: dict[str, str | None] = dict.fromkeys(("user", "client-id", "ip"))
    no_default = dict.fromkeys(nobody, False)
    with pytest.raises(UsageFailure, match="say whose quota"):
        entity_of(nobody, no_default)
    with pytest.raises(UsageFailure, match="not both"):
        entity_of(nobody | {"user": "alice"}, no_default | {"user": True})
    both = entity_of(nobody | {"client-id": "app"}, no_default | {"user": True})
    assert both == (("user", None), ("client-id", "app"))


def test_top_shows_who_uses_what_and_who_waits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        running(tmp_path / "data", metrics=Address("127.0.0.1", 0)) as node,
        Wire(node.address) as wire,
        Wire(node.address) as idle,
    ):
        assert wire.call(create("t"), 7).topics[0].error_code == 0
        idle.call_as("idle", create("u"), 7)
        entity = RequestEntityData(entity_type="client-id", entity_name=None)
        op = OpData(key="producer_byte_rate", value=10.0)
        wire.call(
            AlterClientQuotasRequest(entries=[RequestEntryData(entity=[entity], ops=[op])]), 1
        )
        wire.call(produce("t", batch(b"." * 5000)), PRODUCE_VERSION)
        at = str(node.node.metrics_address)
        watch([at], 0.1, 1, 20, as_json=True)
        (line,) = capsys.readouterr().out.splitlines()
        shown = {each["client_id"]: each for each in json.loads(line)}
        assert shown["wire"]["user"] == "ANONYMOUS"
        assert shown["wire"]["produce_limit"] == 10.0
        assert shown["wire"]["throttle_ms"] > 100_000
        assert shown["idle"]["throttle_ms"] == 0
        watch([at], 0.1, 1, 20, as_json=False)
        table = capsys.readouterr().out.splitlines()
        assert table[0].split()[:2] == ["USER", "CLIENT"] and len(table) == 3
    with pytest.raises(Failure, match="no metrics at"):
        watch([at], 0.1, 1, 20, as_json=True)


def test_rates_are_of_what_was_moved_between_two_looks() -> None:
    names = ("sent_bytes", "received_bytes")
    clients = ("alice", "app"), ("bob", "app"), ("bob", "gone")

    def figures(*moved: float) -> Figures:
        found: Figures = {
            f"penstock_client_{name}": dict(zip(clients, moved, strict=True)) for name in names
        }
        kinds = ("produce", "fetch", "request", "controller_mutation")
        found |= {f"penstock_{kind}_throttle_time_ms": {} for kind in kinds}
        found |= {f"penstock_{kind}_limit": {} for kind in kinds}
        return found

    after = figures(3000, 5000, 10)
    after["penstock_produce_limit"] = {("alice", ""): 7.0, ("", "app"): 9.0}
    found = usages(figures(1000, 1000, 5000), after, elapsed_s=2.0)
    assert [(each.user, each.client_id, each.sent) for each in found] == [
        ("bob", "app", 2000.0),
        ("alice", "app", 1000.0),
        ("bob", "gone", 0.0),
    ]
    assert [each.produce_limit for each in found] == [9.0, 7.0, None]
