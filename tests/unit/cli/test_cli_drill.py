"""Every incident of the drill, with real clients: the doctor names it, and lag falls again.

All of them at once on one broker, each with services of its own: looking at one after the other
would take minutes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.cli.cluster import Cluster
from penstock.cli.doctor.finding import Cause
from penstock.cli.drill.drill import Drill
from penstock.cli.drill.incident import INCIDENTS, Incident
from penstock.cli.drill.stage import Stage
from penstock.cli.operator.link import Link
from penstock.cli.profile import Target
from penstock.testing.broker import Broker
from tests.unit.cli.command_server import CommandServer
from tests.unit.cli.conftest import Command

PATIENCE_S = 120
CALM_S = 6
SETTINGS = {
    "penstock.metrics.topic.enable": True,
    "penstock.metrics.topic.interval.ms": 1000,
    "group.initial.rebalance.delay.ms": 0,
}


class Rehearsal:
    """One incident among others."""

    def __init__(self, command: Command, incident: type[Incident], seed: int) -> None:
        stage = Stage(command.servers, f"{incident.name}-", seed, hurry=20)
        link = Link(Cluster(Target(command.servers)))
        self.drill = Drill(stage, incident(stage), link, lambda *words: command.run(*words))
        self.causes: set[str] = set()
        self.why = ""

    def take(self, findings: list[Any]) -> None:
        cause = self.drill.incident.cause
        for each in findings:
            about = each["group"] or each["what"]
            if self.drill.victim in about or self.drill.incident.service.name in about:
                self.causes.add(each["cause"])
                if each["cause"] == cause:
                    self.why = each["why"]

    @property
    def is_found(self) -> bool:
        return self.drill.incident.cause in self.causes


@pytest.fixture
def command(penstock_factory: Callable[..., Broker], command_server: CommandServer) -> Command:
    return Command(penstock_factory(SETTINGS).bootstrap_servers, command_server)


@pytest.fixture
def rehearsals(command: Command) -> Iterator[dict[str, Rehearsal]]:
    found = {
        name: Rehearsal(command, incident, seed)
        for seed, (name, incident) in enumerate(INCIDENTS.items())
    }
    yield found
    for each in found.values():
        each.drill.stage.end()


def wait_for(is_done: Callable[[], bool], told: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not is_done():
        assert time.monotonic() < until, told()


def test_every_incident_is_found_and_contained(
    command: Command, rehearsals: dict[str, Rehearsal]
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
        answer = command.try_run("doctor", *groups, "--for", "4s", "--disk", "100", "--json")
        for each in everybody:
            each.take(answer.json["findings"])
            each.drill.look()
        return all(each.is_found for each in everybody)

    wait_for(look, lambda: {name: each.causes for name, each in rehearsals.items()})
    assert "a loop" in rehearsals["loop"].why
    assert "one client alone, loop-payments-retries" in rehearsals["loop"].why
    assert "a backfill" in rehearsals["backfill"].why

    for each in everybody:
        each.drill.incident.contain(each.drill.run)

    def has_fallen() -> bool:
        for each in everybody:
            each.drill.look()
        time.sleep(0.5)
        return all(each.drill.falls for each in everybody)

    wait_for(has_fallen, lambda: {name: each.drill.report() for name, each in rehearsals.items()})
    reports = [each.drill.report() for each in everybody]
    assert [each["red_flags"] for each in reports] == [[]] * len(reports)
    assert Cause.stuck in rehearsals["poison"].causes
