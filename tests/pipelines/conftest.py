"""The broker of a pipeline's test: Penstock, or by `--target` three nodes of it or Apache Kafka."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.testing.broker import Broker
from tests.pipelines.nodes_broker import NodesBroker
from tests.target import target_name
from tools.apache_kafka import missing_prerequisite

SECTION = "Pipelines"
# A run is the only member of its group: it need not wait three seconds for others.
SETTINGS = {"group.initial.rebalance.delay.ms": "0"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test that takes a broker shows on both targets what its name says; others have none."""
    here = [item for item in items if item.path.parent == Path(__file__).parent]
    with_broker = [item for item in here if "penstock" in getattr(item, "fixturenames", ())]
    for item in with_broker:
        what = item.path.stem.removeprefix("test_pipeline_").replace("_", " ")
        function = getattr(item, "originalname", item.name)
        said = function.removeprefix("test_").replace("_", " ").capitalize()
        item.add_marker(pytest.mark.feature(said, section=SECTION))
        item.add_marker(pytest.mark.client(what))
    if config.getoption("target") is not None:
        unasked = set(here) - set(with_broker)
        config.hook.pytest_deselected(items=[item for item in items if item in unasked])
        items[:] = [item for item in items if item not in unasked]


def pytest_configure(config: pytest.Config) -> None:
    line = "penstock_only(reason): why this cannot be asked of Apache Kafka"
    config.addinivalue_line("markers", line)


def pytest_runtest_setup(item: pytest.Item) -> None:
    marker = item.get_closest_marker("penstock_only")
    if marker is not None and target_name(item.config) == "kafka":
        pytest.skip(marker.args[0])


@pytest.fixture
def penstock_factory(
    request: pytest.FixtureRequest, tmp_path: Path, penstock_factory: Callable[..., Broker]
) -> Iterator[Callable[..., Broker]]:
    target = target_name(request.config)
    if target == "penstock":
        yield lambda settings=None, *others, **more: penstock_factory(
            SETTINGS | (settings or {}), *others, **more
        )
        return
    kind = _kafka_class() if target == "kafka" else NodesBroker
    brokers: list[Broker] = []

    def make(settings: dict[str, Any] | None = None) -> Broker:
        home = tmp_path / f"{target}-data-{len(brokers)}"
        broker = kind(home, SETTINGS | (settings or {}))
        brokers.append(broker)
        broker.start()
        return broker

    yield make
    for broker in brokers:
        broker.kill()


def _kafka_class() -> type[Broker]:
    missing = missing_prerequisite()
    if missing is not None:
        pytest.skip(missing)
    from tests.pipelines.apache_broker import ApacheBroker

    return ApacheBroker
