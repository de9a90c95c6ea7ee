"""Share groups (KIP-932).

When the broker ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import AcknowledgeType, Message

from tests.conformance.clients.raw import Connection
from tests.conformance.clients.share import set_group, share_member
from tests.conformance.conftest import BROKER_SETTINGS
from tests.conformance.own_broker import own_broker
from tests.conformance.test_group_restart import create, kill, restart
from tests.patience import wait_until

SETTINGS = BROKER_SETTINGS | {"offsets.topic.num.partitions": "1"}


@pytest.fixture(scope="module")
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """A broker of its own, to be ended."""
    folder = tmp_path_factory.mktemp("restarted") / "data"
    with own_broker(request.config, folder, SETTINGS) as broker:
        yield broker


def of_even(message: Message) -> AcknowledgeType:
    is_even = int(message.value() or b"") % 2 == 0
    return AcknowledgeType.ACCEPT if is_even else AcknowledgeType.RELEASE


@pytest.mark.feature("Acknowledgements and counts of deliveries outlive a restart and kill -9")
@pytest.mark.parametrize("end", [restart, kill])
@pytest.mark.client("confluent-kafka, share consumer")
def test_acknowledgements_survive(broker: Any, topic_name: str, end: Callable[[Any], None]) -> None:
    create(broker, topic_name)
    group, servers = f"{topic_name}-group", broker.bootstrap_servers
    connection = Connection(servers)
    set_group(connection, group, auto_offset_reset="earliest")
    with share_member(servers, group, topic_name) as before:
        wait_until(lambda: before.poll(of_even) >= 0 and {n for _, n in before.seen} >= {1, 2})
        wait_until(lambda: len({value for value, _ in before.seen}) == 10)
    released = dict(before.seen)
    end(broker)
    with share_member(servers, group, topic_name) as after:
        wait_until(lambda: after.poll() >= 0 and len(after.seen) >= 5)
        assert after.poll() == 0
    assert sorted(after.values) == [b"1", b"3", b"5", b"7", b"9"]
    assert all(deliveries == released[value] + 1 for value, deliveries in after.seen)
