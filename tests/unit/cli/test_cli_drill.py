"""Every incident of the drill, with real clients: the doctor names it, and lag falls again.

All of them at once on one broker, on three with PENSTOCK_CLUSTERS=1, each with services of its own:
looking at one after the other would take minutes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.cli.cluster import Cluster as ClusterOfCommands
from penstock.cli.doctor.finding import Cause
from penstock.cli.drill.console import Console
from penstock.cli.drill.drill import Drill
from penstock.cli.drill.flag import Act, Moment, Seen, flags
from penstock.cli.drill.incident import INCIDENTS, Incident
from penstock.cli.drill.stage import Stage
from penstock.cli.operator.link import Link
from penstock.cli.profile import Target
from penstock.testing.broker import Broker
from penstock.testing.cluster import Cluster
from tests.patience import wait_until
from tests.unit.cli.command_server import CommandServer
from tests.unit.cli.conftest import Command

PATIENCE_S = 240
CALM_S = 6
SETTINGS = {
    "penstock.metrics.topic.enable": True,
    "penstock.metrics.topic.interval.ms": 1000,
    "group.initial.rebalance.delay.ms": 0,
}

WORDS = {
    "loop": ("one client alone, loop-payments-retries", "a loop"),
    "backfill": ("one client alone, backfill-payments-import", "a backfill"),
}
"""What the doctor is to say beside the cause."""


class Rehearsal:
    """One incident among others."""

    def __init__(self, command: Command, incident: type[Incident], seed: int) -> None:
        stage = Stage(command.servers, f"{incident.name}-", seed, hurry=20)
        link = Link(ClusterOfCommands(Target(command.servers)))
        self.drill = Drill(stage, incident(stage), link, lambda *words: command.run(*words))
        self.causes: set[str] = set()
        self.why = ""
        self.is_contained = False

    def take(self, findings: list[Any]) -> None:
        cause = self.drill.incident.cause
        if self.is_found:
            return
        for each in findings:
            about = each["group"] or each["what"]
            if self.drill.victim in about or self.drill.incident.service.name in about:
                self.causes.add(each["cause"])
                if each["cause"] == cause:
                    self.why = each["why"]

    @property
    def is_found(self) -> bool:
        wanted = WORDS.get(self.drill.incident.name, ())
        return self.drill.incident.cause in self.causes and all(one in self.why for one in wanted)


@pytest.fixture
def command(penstock_factory: Callable[..., Broker], command_server: CommandServer) -> Command:
    return Command(penstock_factory(SETTINGS).bootstrap_servers, command_server)


@pytest.fixture
def company(request: pytest.FixtureRequest, command_server: CommandServer) -> Command:
    """The cluster of all rehearsals."""
    if not os.environ.get("PENSTOCK_CLUSTERS"):
        alone: Command = request.getfixturevalue("command")
        return alone
    cluster: Cluster = request.getfixturevalue("penstock_cluster")
    return Command(cluster.bootstrap_servers, command_server)


@pytest.fixture
def rehearsals(company: Command) -> Iterator[dict[str, Rehearsal]]:
    found = {
        name: Rehearsal(company, incident, seed)
        for seed, (name, incident) in enumerate(INCIDENTS.items())
    }
    yield found
    for each in found.values():
        each.drill.stage.end(wait=False)
    for each in found.values():
        each.drill.stage.end()


@pytest.mark.timeout(900)
@pytest.mark.penstock(settings=SETTINGS)
def test_every_incident_is_found_and_contained(
    company: Command, rehearsals: dict[str, Rehearsal]
) -> None:
    everybody = list(rehearsals.values())
    for each in everybody:
        each.drill.prepare(each.drill.incident.services)
    time.sleep(CALM_S)
    for each in everybody:
        each.drill.begin()
        each.drill.page()
    groups = [
        each.drill.stage.services[name].name
        for each in everybody
        for name in each.drill.incident.services
    ]

    def look() -> bool:
        answer = company.try_run("doctor", *groups, "--for", "4s", "--disk", "100", "--json")
        for each in everybody:
            each.take(answer.json["findings"])
            each.drill.look()
            if each.is_found and not each.is_contained:
                each.is_contained = True
                each.drill.incident.contain(each.drill.run)
        return all(each.is_found for each in everybody)

    wait_until(
        look,
        lambda: {name: (each.causes, each.why) for name, each in rehearsals.items()},
        patience_s=PATIENCE_S,
    )

    def has_fallen() -> bool:
        for each in everybody:
            if not each.drill.falls:
                each.drill.look()
        time.sleep(0.5)
        return all(each.drill.falls for each in everybody)

    wait_until(
        has_fallen,
        lambda: {name: each.drill.report() for name, each in rehearsals.items()},
        patience_s=PATIENCE_S,
    )
    reports = [each.drill.report() for each in everybody]
    assert [each["red_flags"] for each in reports] == [[]] * len(reports)
    assert Cause.stuck in rehearsals["poison"].causes


# What must not be done


def seen(lag: int = 100, members: int = 1, **more: Any) -> Seen:
    names = frozenset(str(each) for each in range(members))
    return Seen(lag, 60.0, names, 2, 1000, 1000)._replace(**more)


def flagged(
    *groups: Seen, acts: tuple[str, ...] = (), processes: tuple[int, ...] = ()
) -> list[str]:
    moments = [
        Moment(float(at), {"billing": each}, processes[at : at + 1])
        for at, each in enumerate(groups)
    ]
    return flags(moments, [Act(1.0, tuple(each.split())) for each in acts], "billing", 30.0)


def test_nothing_was_done_wrong() -> None:
    assert flagged() == []
    assert (
        flagged(seen(), seen(members=2, committed=1100, dealt=1100), acts=("members billing 2",))
        == []
    )


def test_red_flags() -> None:
    assert "all consumers" in flagged(seen(), acts=("restart all",))[0]
    assert "partitions were added" in flagged(seen(), seen(partitions=4))[0]
    assert "more members than partitions" in flagged(seen(), seen(members=3))[0]
    assert "brokers were restarted" in flagged(seen(), seen(), processes=(1, 2))[0]
    assert "past good records" in flagged(seen(), seen(committed=1200, dealt=1100))[0]
    assert "came first" in flagged(seen(), seen(), acts=("members analytics 2",))[0]


def test_a_drill_of_its_own_from_start_to_end(nowhere: Command) -> None:
    """The whole command, on a cluster that it starts; nobody answers the page but the tools."""
    wanted = ("drill", "lag", "--cause", "no-members", "--auto", "--nodes", "1", "--calm", "1s")
    answer = nowhere.try_run(*wanted, "--json")
    report = answer.json
    assert (answer.code, report["named"], report["contained"]) == (0, "no-members", True), report
    assert "no-members" in report["doctor"]
    assert "02:07  PAGE" in answer.err
    assert "there is no 'flood'" in nowhere.fail("drill", "lag", "--cause", "flood", code=2)


def test_a_drill_where_nobody_answers(nowhere: Command) -> None:
    said = nowhere.try_run("--timeout", "2", "drill", "lag", "--brokers", nowhere.servers)
    assert said.code == 1
    assert said.err.startswith("penstock: no broker answers at")
    assert said.err.count("\n") == 1


def test_what_is_typed_at_the_drill(command: Command) -> None:
    rehearsal = Rehearsal(command, INCIDENTS["no-members"], 1)
    drill = rehearsal.drill
    console = Console(drill)
    try:
        drill.prepare(["mailer"])
        drill.begin()
        drill.page()
        assert "finds nothing" in console.act(["repair", "billing"])
        assert console.act(["it", "is", "no-members"]) == "noted"
        assert "it is CAUSE" in console.act(["hello"])
        assert "has found something" in console.act(["repair", "mailer"])
        assert "has 3 members" in console.act(["members", "mailer", "3"])
        assert "restarted all" in console.act(["restart", "all"])

        def is_crowded() -> bool:
            return len(drill.look().groups[drill.victim].members) == 3

        wait_until(is_crowded, drill.report, patience_s=PATIENCE_S)
        report = drill.report()
        assert report["named"] == "no-members"
        assert [each.split(":")[0] for each in report["red_flags"]] == [
            "all consumers were restarted at once",
            "no-members-mailer got more members than partitions",
        ]
        assert console.act(["done"]) and console.is_done
    finally:
        drill.stage.end()
