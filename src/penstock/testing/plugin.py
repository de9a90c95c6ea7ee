"""The pytest plugin: `penstock` is a real broker for one test, `penstock_factory` makes more, and
`penstock_cluster` is a cluster.

    def test_orders(penstock):
        penstock.produce("orders", ["first"])
        assert [each.value for each in penstock.read("orders")] == [b"first"]

    @pytest.mark.penstock(settings={"num.partitions": 1})
    def test_one_partition(penstock): ...

    @pytest.mark.penstock(nodes=5)
    def test_a_leader_dies(penstock_cluster):
        penstock_cluster.kill(penstock_cluster.leader("orders", 0))

Every pytest run loads this module where Penstock is installed: it imports nothing else until a
test asks for a broker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from penstock.testing.broker import Broker
    from penstock.testing.cluster import Cluster

pytest_plugins = ["penstock.pipelines.testing"]
"""Fixtures for pipelines on Spark; as light until used."""

_FIXTURES = {"penstock", "penstock_factory", "penstock_cluster"}
_LOG_SHOWN_CHARACTERS = 20_000


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "penstock(settings={}, nodes=3, racks=(), links=False): the broker or the cluster that "
        "the test gets",
    )


def pytest_collection_finish(session: pytest.Session) -> None:
    """Load the broker's modules, in another process, while the first tests run."""
    if session.config.option.collectonly:
        return
    if any(_FIXTURES.intersection(getattr(item, "fixturenames", ())) for item in session.items):
        from penstock.testing.nursery import shared_nursery

        shared_nursery()


def pytest_unconfigure() -> None:
    import sys

    nursery = sys.modules.get("penstock.testing.nursery")
    if nursery is not None:
        nursery.close_shared_nursery()


@pytest.fixture
def penstock_factory(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[..., Broker]]:
    """`penstock_factory(settings={}, data_dir=None, start=True)`: brokers for one test."""
    from penstock.testing.broker import Broker

    brokers: list[Broker] = []

    def make(
        settings: dict[str, Any] | None = None,
        data_dir: Path | None = None,
        *,
        start: bool = True,
        log_level: str = "info",
    ) -> Broker:
        number = f"-{len(brokers)}" if brokers else ""
        home = data_dir or tmp_path / f"penstock-data{number}"
        broker = Broker(home, settings, log_level=log_level)
        brokers.append(broker)
        if start:
            broker.start()
        return broker

    yield make
    for broker in brokers:
        _end(request, broker)


def _end(request: pytest.FixtureRequest, broker: Broker) -> None:
    try:
        broker.stop()
    finally:
        _show_log(request, broker)


def _show_log(request: pytest.FixtureRequest, broker: Broker) -> None:
    shown = broker.log[-_LOG_SHOWN_CHARACTERS:]
    request.node.add_report_section("teardown", f"penstock log, {broker.data_dir}", shown)


@pytest.fixture
def penstock(request: pytest.FixtureRequest, penstock_factory: Callable[..., Broker]) -> Broker:
    """A broker of this test alone, ready, with its data under `tmp_path`."""
    return penstock_factory(_marked(request).get("settings"))


@pytest.fixture
def penstock_cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cluster]:
    """A cluster of this test alone, three nodes unless the mark says otherwise, all ready."""
    from penstock.testing.cluster import Cluster

    cluster = Cluster(tmp_path / "penstock-cluster", **_marked(request))
    cluster.start_all()
    yield cluster
    # Nobody reads what they leave behind, and an orderly end takes its time.
    cluster.kill_all()
    for node in cluster.nodes.values():
        _show_log(request, node)


def _marked(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the marks say, the nearest last; settings of all of them count."""
    marked: dict[str, Any] = {}
    for marker in reversed(list(request.node.iter_markers("penstock"))):
        settings = marked.get("settings", {}) | marker.kwargs.get("settings", {})
        marked |= marker.kwargs | {"settings": settings}
    return marked
