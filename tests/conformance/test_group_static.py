"""Consumer groups: static members."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from penstock.model.error import ErrorCode
from tests.conformance.clients.admin_kafka_python import KafkaPythonAdmin
from tests.conformance.clients.membership import Membership, places, wait_shared
from tests.conformance.clients.record import Client
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

MakeTopic = Callable[..., str]
SESSION_MS = 6_000


@pytest.mark.feature("A restart within the session timeout moves nothing")
def test_restart(
    client: Client, membership: Membership, make_topic: MakeTopic, group_id: str
) -> None:
    topic = make_topic(4)
    one = membership.join(client.name, group_id, topic, instance="one")
    two = membership.join(client.name, group_id, topic, instance="two")
    wait_shared([one, two], places(topic, 4))
    held, events = one.assigned, two.events()
    one.close()
    time.sleep(1)
    again = membership.join(client.name, group_id, topic, instance="one")
    wait_until(lambda: again.assigned == held)
    assert two.events() == events
    assert two.assigned == places(topic, 4) - held


@pytest.mark.feature("Gone for longer than the session timeout: the others take over")
def test_gone_too_long(
    client: Client, membership: Membership, make_topic: MakeTopic, group_id: str
) -> None:
    topic = make_topic(4)
    one = membership.join(client.name, group_id, topic, instance="one", session_ms=SESSION_MS)
    two = membership.join(client.name, group_id, topic, instance="two")
    wait_shared([one, two], places(topic, 4))
    one.close()
    wait_shared([two], places(topic, 4))


@pytest.mark.feature("The older of two with the same instance id is fenced (FENCED_INSTANCE_ID)")
@pytest.mark.parametrize("client", ["confluent-kafka"], indirect=True)
def test_fenced(
    client: Client, membership: Membership, make_topic: MakeTopic, group_id: str
) -> None:
    topic = make_topic(2)
    old = membership.join(client.name, group_id, topic, instance="one")
    wait_shared([old], places(topic, 2))
    new = membership.join(client.name, group_id, topic, instance="one")
    wait_shared([new], places(topic, 2))
    wait_until(lambda: old.failure is not None)
    assert old.failure is not None
    # librdkafka tells of it by a code of its own; the other clients keep it to themselves.
    assert old.failure.code in (ErrorCode.FENCED_INSTANCE_ID, -150)
    assert new.assigned == places(topic, 2)


@pytest.mark.feature("An admin removes a static member")
@pytest.mark.parametrize("client", ["kafka-python"], indirect=True)
def test_removed(
    client: Client, cluster: Cluster, membership: Membership, make_topic: MakeTopic, group_id: str
) -> None:
    from kafka.admin import MemberToRemove

    topic = make_topic(2)
    one = membership.join(client.name, group_id, topic, instance="one", session_ms=45_000)
    two = membership.join(client.name, group_id, topic, instance="two", session_ms=45_000)
    wait_shared([one, two], places(topic, 2))
    one.close()
    admin = KafkaPythonAdmin(cluster.bootstrap_servers)
    leaving = [MemberToRemove(group_instance_id=name) for name in ("one", "nobody")]
    try:
        results = admin.client.remove_group_members(group_id, leaving)
    finally:
        admin.close()
    codes = sorted(error.errno for error in results.values())
    assert codes == [ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID]
    wait_shared([two], places(topic, 2))
