"""Access control: entries made by real clients and tools, and what they refuse and allow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from tests.authorization.grants import ADMIN
from tests.authorization.login import PASSWORD
from tests.authorization.target import penstock
from tests.patience import wait_until
from tests.security.sasl_kit import PLAIN_MODULE, SaslBroker
from tests.target import target_name
from tools import apache_kafka
from tools.tool_host import shared_tool_host

PATIENCE_S = 60.0
LITERAL, PREFIXED = ResourcePatternType.LITERAL, ResourcePatternType.PREFIXED
ALLOW, DENY = AclPermissionType.ALLOW, AclPermissionType.DENY


@pytest.fixture(scope="module")
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SaslBroker]:
    if target_name(request.config) != "penstock":
        pytest.skip("a node of Penstock with an authorizer")
    users = dict.fromkeys(("alice", "bob", "carol"))
    with penstock(tmp_path_factory.mktemp("acls"), users) as running:
        yield running


@pytest.fixture(scope="module")
def admin(broker: SaslBroker) -> AdminClient:
    return AdminClient(broker.client("PLAIN", ADMIN, PASSWORD))


def entry(
    name: str,
    user: str,
    operation: AclOperation,
    *,
    kind: ResourceType = ResourceType.TOPIC,
    pattern: ResourcePatternType = LITERAL,
    permission: AclPermissionType = ALLOW,
) -> AclBinding:
    return AclBinding(kind, name, pattern, f"User:{user}", "*", operation, permission)


def as_filter(binding: AclBinding) -> AclBindingFilter:
    return AclBindingFilter(
        binding.restype,
        binding.name,
        binding.resource_pattern_type,
        binding.principal,
        binding.host,
        binding.operation,
        binding.permission_type,
    )


def allow(admin: AdminClient, *entries: AclBinding) -> None:
    for future in admin.create_acls(list(entries)).values():
        future.result(PATIENCE_S)


def take_back(admin: AdminClient, *entries: AclBinding) -> None:
    for future in admin.delete_acls([as_filter(one) for one in entries]).values():
        assert len(future.result(PATIENCE_S)) == 1


def test_entries_are_made_found_and_removed(admin: AdminClient) -> None:
    literal = entry("found", "alice", AclOperation.READ)
    prefixed = entry("fo", "bob", AclOperation.ALL, pattern=PREFIXED, permission=DENY)
    other = entry("other", "alice", AclOperation.READ)
    allow(admin, literal, prefixed, other)
    allow(admin, literal)

    def described(pattern: ResourcePatternType, name: str | None) -> set[AclBinding]:
        wanted = AclBindingFilter(
            ResourceType.TOPIC,
            name,
            pattern,
            None,
            None,
            AclOperation.ANY,
            AclPermissionType.ANY,
        )
        return set(admin.describe_acls(wanted).result(PATIENCE_S))

    assert described(ResourcePatternType.MATCH, "found") == {literal, prefixed}
    assert described(LITERAL, "found") == {literal}
    assert described(PREFIXED, "found") == set()
    assert described(ResourcePatternType.ANY, None) >= {literal, prefixed, other}
    take_back(admin, literal, prefixed, other)
    assert described(ResourcePatternType.MATCH, "found") == set()


def sent(producer: Producer, topic: str) -> KafkaError | None:
    """What came of one record. The client remembers what metadata said: it asks anew."""
    outcome: list[KafkaError | None] = []
    producer.list_topics(topic, PATIENCE_S)
    try:
        producer.produce(topic, b"v", on_delivery=lambda error, _: outcome.append(error))
    except KafkaException as error:
        cause: KafkaError = error.args[0]
        return cause
    assert producer.flush(PATIENCE_S) == 0
    return outcome[0]


def test_a_producer_is_refused_allowed_and_refused_again(
    broker: SaslBroker, admin: AdminClient
) -> None:
    topic = "orders"
    writes = entry(topic, "alice", AclOperation.WRITE)
    creates = entry(topic, "alice", AclOperation.CREATE)
    settings = broker.client("PLAIN", "alice", PASSWORD)
    refused = KafkaError.TOPIC_AUTHORIZATION_FAILED
    producer = Producer(settings)
    failure = sent(producer, topic)
    assert failure is not None and failure.code() == refused
    allow(admin, writes, creates)
    wait_until(lambda: sent(producer, topic) is None, patience_s=PATIENCE_S)
    take_back(admin, writes)
    wait_until(lambda: sent(producer, topic) is not None, patience_s=PATIENCE_S)
    failure = sent(producer, topic)
    assert failure is not None and failure.code() == refused


def test_a_consumer_needs_its_group_and_its_topic(broker: SaslBroker, admin: AdminClient) -> None:
    topic, group = "letters", "readers"
    producer = Producer(broker.client("PLAIN", ADMIN, PASSWORD))
    assert sent(producer, topic) is None
    settings = broker.client("PLAIN", "bob", PASSWORD) | {
        "group.id": group,
        "auto.offset.reset": "earliest",
    }

    def consume() -> bytes | int:
        """A value, or the code of the error."""
        consumer = Consumer(settings)
        try:
            consumer.subscribe([topic])
            message = consumer.poll(PATIENCE_S)
            assert message is not None
            error = message.error()
            value: bytes = message.value()
            return value if error is None else int(error.code())
        finally:
            consumer.close()

    reads = entry(topic, "bob", AclOperation.READ)
    joins = entry("read", "bob", AclOperation.READ, kind=ResourceType.GROUP, pattern=PREFIXED)
    allow(admin, joins)
    wait_until(lambda: consume() == KafkaError.TOPIC_AUTHORIZATION_FAILED, patience_s=PATIENCE_S)
    take_back(admin, joins)
    allow(admin, reads)
    wait_until(lambda: consume() == KafkaError.GROUP_AUTHORIZATION_FAILED, patience_s=PATIENCE_S)
    allow(admin, joins)
    wait_until(lambda: consume() == b"v", patience_s=PATIENCE_S)


def test_who_reads_on_is_stopped(broker: SaslBroker, admin: AdminClient) -> None:
    """Also where a session of fetches has everything, and only waits for more."""
    topic = "stopped"
    producer = Producer(broker.client("PLAIN", ADMIN, PASSWORD))
    assert sent(producer, topic) is None
    reads = entry(topic, "carol", AclOperation.READ)
    allow(admin, reads, entry("none", "carol", AclOperation.READ, kind=ResourceType.GROUP))
    settings = broker.client("PLAIN", "carol", PASSWORD)
    consumer = Consumer(settings | {"group.id": "none", "enable.auto.commit": False})
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        message = consumer.poll(PATIENCE_S)
        assert message is not None and message.error() is None
        assert consumer.poll(1.0) is None
        take_back(admin, reads)

        def is_told() -> bool:
            message = consumer.poll(1.0)
            error = None if message is None else message.error()
            return error is not None and error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED

        wait_until(is_told, patience_s=PATIENCE_S)
    finally:
        consumer.close()


def test_names_are_not_confused(broker: SaslBroker, admin: AdminClient) -> None:
    """Prefixes, stars, and letters that look the same or are written in two ways."""
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    group, read = ResourceType.GROUP, AclOperation.READ
    given = (
        entry("a.", "carol", read, kind=group, pattern=PREFIXED),
        entry(composed, "carol", read, kind=group),
        entry("*", "carol", read, kind=group, pattern=PREFIXED),
        entry("b*", "carol", read, kind=group),
    )
    allow(admin, *given)
    carol = AdminClient(broker.client("PLAIN", "carol", PASSWORD))

    def may(name: str) -> bool:
        asked = [ConsumerGroupTopicPartitions(name)]
        (future,) = carol.list_consumer_group_offsets(asked).values()
        try:
            future.result(PATIENCE_S)
        except KafkaException as error:
            assert error.args[0].code() == KafkaError.GROUP_AUTHORIZATION_FAILED
            return False
        return True

    try:
        assert [name for name in ("a.", "a.b", composed, "*", "*x", "b*") if not may(name)] == []
        others = ("a", "ab", "A.b", "\u0430.b", "a\u2024b", decomposed, "cafe", "x", "b", "bx")
        assert [name for name in others if may(name)] == []
    finally:
        take_back(admin, *given)


def test_whoever_may_not_change_entries_is_told(broker: SaslBroker) -> None:
    alice = AdminClient(broker.client("PLAIN", "alice", PASSWORD))
    with pytest.raises(KafkaException) as caught:
        allow(alice, entry("mine", "alice", AclOperation.ALL))
    assert caught.value.args[0].code() == KafkaError.CLUSTER_AUTHORIZATION_FAILED


@pytest.mark.java
def test_kafka_acls(broker: SaslBroker, tmp_path: Path) -> None:
    if (reason := apache_kafka.missing_prerequisite()) is not None:
        pytest.skip(reason)
    file = tmp_path / "admin.properties"
    login = f'{PLAIN_MODULE} required username="{ADMIN}" password="{PASSWORD}";'
    file.write_text(
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={login}\n"
    )
    address = ("--bootstrap-server", broker.secured, "--command-config", str(file))

    def tool(*args: str) -> str:
        done: Any = shared_tool_host().run("kafka-acls", [*address, *args])
        assert done.returncode == 0, done.stdout + done.stderr
        out: str = done.stdout
        return out

    what = ("--topic", "tooled-", "--resource-pattern-type", "prefixed")
    tool("--add", "--allow-principal", "User:dave", "--producer", *what)
    listed = tool("--list", "--topic", "tooled-x", "--resource-pattern-type", "match")
    for operation in ("WRITE", "DESCRIBE", "CREATE"):
        entry_shown = f"(principal=User:dave, host=*, operation={operation}, permissionType=ALLOW)"
        assert entry_shown in listed
    denied = ("--deny-principal", "User:eve", "--deny-host", "10.0.0.0/8", "--operation", "Read")
    tool("--add", *denied, *what)
    assert "host=10.0.0.0/8, operation=READ, permissionType=DENY" in tool("--list")
    tool("--remove", "--force", *what)
    assert "tooled-" not in tool("--list")


def test_a_regular_expression_comes_to_no_topic_that_must_not_be_known(
    broker: SaslBroker, admin: AdminClient
) -> None:
    """The broker resolves it (KIP-848), with what the member may describe."""
    producer = Producer(broker.client("PLAIN", ADMIN, PASSWORD))
    for topic in ("matched-open", "matched-secret"):
        assert sent(producer, topic) is None
    group = entry("matchers", "carol", AclOperation.READ, kind=ResourceType.GROUP)
    allow(admin, entry("matched-open", "carol", AclOperation.READ), group)
    settings = broker.client("PLAIN", "carol", PASSWORD)
    consumer = Consumer(settings | {"group.id": "matchers", "group.protocol": "consumer"})
    try:
        consumer.subscribe(["^matched-.*"])

        def assigned() -> set[str]:
            consumer.poll(0.2)
            return {one.topic for one in consumer.assignment()}

        wait_until(lambda: bool(assigned()), patience_s=PATIENCE_S)
        # The client leaves out what it cannot name: the broker says what it was given.
        described = admin.describe_consumer_groups(["matchers"])["matchers"].result(PATIENCE_S)
        (member,) = described.members
        targets = member.target_assignment.topic_partitions
        assert {one.topic for one in targets} == {"matched-open"}
    finally:
        consumer.close()
