"""Changes of settings that are refused, and what is read-only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from penstock.metadata.config import ResourceType
from penstock.model.error import ErrorCode
from penstock.protocol.messages import alter_configs as legacy
from penstock.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from penstock.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.settings.broker import BROKER_KEYS
from penstock.settings.key import AT_START, PROMISE, READ_ONLY
from tests.conformance.clients.raw import Connection
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

pytestmark = pytest.mark.client("raw requests")

OPERATIONS = {"SET": 0, "DELETE": 1, "APPEND": 2, "SUBTRACT": 3}
TOPIC, BROKER = ResourceType.TOPIC, ResourceType.BROKER
LOGGER, METRICS, GROUP = (
    ResourceType.BROKER_LOGGER,
    ResourceType.CLIENT_METRICS,
    ResourceType.GROUP,
)
Change = tuple[str, str, str | None]
NONE, INVALID_REQUEST, INVALID_CONFIG = (
    ErrorCode.NONE,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.INVALID_CONFIG,
)
MIN_ISR = "min.insync.replicas"


@pytest.fixture
def wire(cluster: Cluster) -> Iterator[Connection]:
    with closing(Connection(cluster.bootstrap_servers)) as connection:
        yield connection


def ask(
    wire: Connection, kind: int, name: str, *changes: Change, validate_only: bool = True
) -> tuple[int, str]:
    """What a change is answered with; it is not made unless asked for."""
    configs = [
        AlterableConfig(name=key, config_operation=OPERATIONS[how], value=value)
        for how, key, value in changes
    ]
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate_only)
    (answer,) = wire.call(request, 1).responses
    return answer.error_code, answer.error_message or ""


def change(wire: Connection, name: str, *changes: Change) -> None:
    assert ask(wire, BROKER, name, *changes, validate_only=False) == (NONE, "")


def ask_older(wire: Connection, kind: int, name: str, *changes: Change) -> tuple[int, str]:
    configs = [legacy.AlterableConfig(name=key, value=value) for _, key, value in changes]
    resource = legacy.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    request = legacy.AlterConfigsRequest(resources=[resource], validate_only=True)
    (answer,) = wire.call(request, 2).responses
    return answer.error_code, answer.error_message or ""


REFUSED: list[tuple[int, str, list[Change], int, str]] = [
    (
        BROKER,
        "1",
        [("SET", "num.partitions", "5"), ("SET", "node.id", "7")],
        INVALID_REQUEST,
        "Cannot update these configs dynamically: [node.id, num.partitions]",
    ),
    (
        BROKER,
        "",
        [("SET", "num.partitions", "5")],
        INVALID_REQUEST,
        "Cannot update these configs dynamically: [num.partitions]",
    ),
    (BROKER, "1", [("SET", "sasl.kerberos.min.time.before.relogin", "58000")], NONE, ""),
    (BROKER, "1", [("DELETE", "num.partitions", None)], NONE, ""),
    (
        BROKER,
        "1",
        [("SET", "authorizer.class.name", "x")],
        INVALID_REQUEST,
        "Cannot update these configs dynamically: [authorizer.class.name]",
    ),
    (
        BROKER,
        "1",
        [("SET", "internal.metadata.delete.delay.millis", "10")],
        INVALID_REQUEST,
        "Cannot update these configs dynamically: [internal.metadata.delete.delay.millis]",
    ),
    # Refused with other words: there is nothing here that could follow such a change.
    (BROKER, "1", [("SET", "listeners", "nonsense")], INVALID_REQUEST, ""),
    (BROKER, "1", [("SET", "listeners", "")], INVALID_REQUEST, ""),
    (BROKER, "", [("SET", "listeners", "PLAINTEXT://127.0.0.1:1")], INVALID_REQUEST, ""),
    (
        BROKER,
        "",
        [("SET", "ssl.client.auth", "required")],
        INVALID_REQUEST,
        "Cannot update these configs at default cluster level",
    ),
    (BROKER, "1", [("SET", "ssl.keystore.location", "/x")], INVALID_REQUEST, ""),
    (BROKER, "1", [("SET", "metric.reporters", "no.such.Class")], INVALID_REQUEST, ""),
    (
        BROKER,
        "1",
        [("SET", "cordoned.log.dirs", "x")],
        INVALID_REQUEST,
        "All entries in cordoned.log.dirs must be present in log.dirs or log.dir",
    ),
    (
        BROKER,
        "",
        [("SET", "cordoned.log.dirs", "*")],
        INVALID_REQUEST,
        "Cannot update these configs at default cluster level",
    ),
    (
        BROKER,
        "1",
        [("APPEND", "no.such", "7")],
        INVALID_CONFIG,
        "",
    ),
    (
        BROKER,
        "1",
        [("APPEND", "log.retention.ms", "7")],
        INVALID_CONFIG,
        "Config value append is not allowed for config key: log.retention.ms",
    ),
    (
        BROKER,
        "1",
        [("SUBTRACT", "log.retention.ms", "7")],
        INVALID_CONFIG,
        "Config value subtract is not allowed for config key: log.retention.ms",
    ),
    (BROKER, "1", [("APPEND", "log.cleanup.policy", "compact")], NONE, ""),
    (BROKER, "1", [("SUBTRACT", "log.cleanup.policy", "delete")], NONE, ""),
    (
        BROKER,
        "1",
        [("SET", "log.retention.ms", None)],
        INVALID_REQUEST,
        "Null value not supported for : log.retention.ms",
    ),
    (
        BROKER,
        "1",
        [("SET", "log.retention.ms", "x")],
        INVALID_REQUEST,
        "Invalid value x for configuration log.retention.ms: Not a number of type LONG",
    ),
    (
        BROKER,
        "1",
        [("SET", "log.retention.ms", "0")],
        INVALID_REQUEST,
        "log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
    ),
    (BROKER, "1", [("SET", "log.retention.ms", "-2")], NONE, ""),
    (
        BROKER,
        "1",
        [("SET", "log.roll.ms", "0")],
        INVALID_REQUEST,
        "log.roll.ms must be greater than or equal to 1",
    ),
    (
        BROKER,
        "1",
        [("SET", "log.roll.jitter.ms", "-1")],
        INVALID_REQUEST,
        "log.roll.jitter.ms must be greater than or equal to 0",
    ),
    (BROKER, "1", [("SET", "log.cleaner.threads", "0")], INVALID_REQUEST, ""),
    (BROKER, "1", [("SET", "log.cleaner.dedupe.buffer.size", "1")], INVALID_REQUEST, ""),
    (BROKER, "1", [("SET", "group.consumer.assignment.interval.ms", "x")], INVALID_REQUEST, ""),
    (BROKER, "1", [("SET", "max.connections", "-1")], INVALID_REQUEST, ""),
    (BROKER, "1", [("SET", "max.connections.per.ip", "0")], INVALID_REQUEST, ""),
    (
        BROKER,
        "1",
        [("SET", MIN_ISR, "2")],
        INVALID_CONFIG,
        f"Broker-level {MIN_ISR} cannot be altered while ELR is enabled.",
    ),
    (BROKER, "", [("SET", MIN_ISR, "2")], NONE, ""),
    (
        BROKER,
        "",
        [("DELETE", MIN_ISR, None)],
        INVALID_CONFIG,
        f"Cluster-level {MIN_ISR} cannot be removed while ELR is enabled.",
    ),
    (
        BROKER,
        "99",
        [("SET", "log.retention.ms", "1000")],
        INVALID_REQUEST,
        ", but received 99",
    ),
    (
        BROKER,
        "1",
        [("SET", "log.retention.ms", "5"), ("SET", "log.retention.ms", "6")],
        INVALID_REQUEST,
        "Error due to duplicate config keys",
    ),
    (TOPIC, "here", [("SET", "remote.storage.enable", "true")], INVALID_CONFIG, ""),
    (TOPIC, "here", [("SET", "remote.storage.enable", "false")], NONE, ""),
    (TOPIC, "here", [("SET", "preallocate", "true")], NONE, ""),
    (TOPIC, "here", [("SET", "leader.replication.throttled.replicas", "0:1,1:1")], NONE, ""),
    (TOPIC, "here", [("SET", "follower.replication.throttled.replicas", "x")], INVALID_CONFIG, ""),
    (TOPIC, "", [("SET", "retention.ms", "5")], INVALID_REQUEST, "Default topic resources are"),
    (LOGGER, "9", [("SET", "root", "DEBUG")], INVALID_REQUEST, ""),
    (METRICS, "m", [("SET", "no.such", "1")], INVALID_REQUEST, "Unknown client metrics config"),
    (METRICS, "m", [("SET", "interval.ms", "1")], INVALID_REQUEST, ""),
    (METRICS, "", [("SET", "interval.ms", "1000")], INVALID_REQUEST, "Subscription name can't be"),
    (GROUP, "g", [("SET", "no.such", "1")], INVALID_CONFIG, "Unknown group config name: no.such"),
    (GROUP, "g", [("SET", "share.auto.offset.reset", "sometime")], INVALID_CONFIG, ""),
    (GROUP, "g", [("SET", "share.auto.offset.reset", "by_duration:PT1H")], NONE, ""),
    (GROUP, "", [("SET", "consumer.session.timeout.ms", "45000")], INVALID_REQUEST, ""),
    (99, "g", [("SET", "no.such", "1")], INVALID_REQUEST, "Unknown resource type 99"),
]


@pytest.mark.feature("Changes that are refused, with code and reason")
@pytest.mark.parametrize(
    ("kind", "name", "changes", "code", "reason"),
    REFUSED,
    ids=[f"{kind}-{name or 'all'}-{'-'.join(changes[0][:2])}-{number}"
         for number, (kind, name, changes, _, _) in enumerate(REFUSED)],
)  # fmt: skip
def test_refused(
    wire: Connection,
    topic: str,
    kind: int,
    name: str,
    changes: list[Change],
    code: int,
    reason: str,
) -> None:
    where = topic if name == "here" else name
    answer = ask(wire, kind, where, *changes)
    assert answer[0] == code, answer
    assert reason in answer[1]
    if all(how == "SET" for how, _, _ in changes) and (kind, where) != (BROKER, ""):
        assert ask_older(wire, kind, where, *changes)[0] == code


WITHOUT_EFFECT: list[tuple[str, str, str]] = [
    ("1", "listeners", "PLAINTEXT://127.0.0.1:1,CONTROLLER://127.0.0.1:2"),
    ("1", "listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,X:SSL"),
    ("1", "config.providers", "x"),
]


@pytest.mark.feature("Changes that would have no effect are refused (Kafka makes them)")
@pytest.mark.parametrize(("name", "key", "value"), WITHOUT_EFFECT)
def test_changes_without_effect(
    cluster: Cluster, wire: Connection, name: str, key: str, value: str
) -> None:
    code, reason = ask(wire, BROKER, name, ("SET", key, value))
    if cluster.target == "kafka":
        assert (code, reason) == (NONE, "")
    else:
        expected = f"Cannot update these configs dynamically: [{key}]"
        assert (code, reason) == (INVALID_REQUEST, expected)


def described(wire: Connection, name: str) -> dict[str, Any]:
    resource = DescribeConfigsResource(
        resource_type=BROKER, resource_name=name, configuration_keys=None
    )
    (result,) = wire.call(DescribeConfigsRequest(resources=[resource]), 4).results
    assert result.error_code == 0
    return {entry.name: entry for entry in result.configs}


@pytest.mark.feature("A setting of a broker that nobody declared is kept, and not shown")
@pytest.mark.parametrize("name", ["own", ""])
def test_undeclared_setting(cluster: Cluster, wire: Connection, name: str) -> None:
    where, key = (str(cluster.broker_id) if name else ""), "custom.plugin.key"
    if name:
        # Of all brokers it would take back what they must have.
        assert ask_older(wire, BROKER, where, ("SET", key, "x")) == (NONE, "")
    change(wire, where, ("SET", key, "x"))
    wait_until(lambda: key in described(wire, where))
    entry = described(wire, where)[key]
    assert (entry.value, entry.is_sensitive, entry.config_type) == (None, True, 0)
    assert (entry.config_source, entry.read_only) == (2 if name else 3, True)
    change(wire, where, ("DELETE", key, None))
    wait_until(lambda: key not in described(wire, where))


@pytest.mark.feature("A first user leaves no setting for all brokers that older tools stumble over")
def test_user_leaves_no_setting(wire: Connection) -> None:
    user, sha_256 = "settings-user", 1
    made = ScramCredentialUpsertion(
        name=user, mechanism=sha_256, iterations=4096, salt=b"salt", salted_password=b"p" * 32
    )
    (result,) = wire.call(AlterUserScramCredentialsRequest(upsertions=[made]), 0).results
    assert result.error_code == NONE
    assert not [name for name, entry in described(wire, "").items() if entry.is_sensitive]
    gone = ScramCredentialDeletion(name=user, mechanism=sha_256)
    (result,) = wire.call(AlterUserScramCredentialsRequest(deletions=[gone]), 0).results
    assert result.error_code == NONE


@pytest.mark.feature("Every setting of a broker is described as read-only where it is")
def test_read_only(cluster: Cluster, wire: Connection) -> None:
    found = described(wire, str(cluster.broker_id))
    assert {name for name in BROKER_KEYS if not name.startswith("penstock.")} <= found.keys()
    for name, entry in found.items():
        key = BROKER_KEYS[name]
        fixed_here = key.effect in (AT_START, PROMISE)
        if cluster.target == "penstock" or not fixed_here:
            assert entry.read_only == (key.update_mode == READ_ONLY), name
        assert (entry.config_type, entry.is_sensitive) == (key.type, key.is_sensitive), name


@pytest.mark.feature("What is described as read-only is refused, and nothing else is")
def test_what_is_read_only_is_refused(cluster: Cluster, wire: Connection) -> None:
    me = str(cluster.broker_id)
    for name, entry in described(wire, me).items():
        if entry.value is None:
            continue
        code, reason = ask(wire, BROKER, me, ("SET", name, entry.value))
        if entry.read_only:
            expected = f"Cannot update these configs dynamically: [{name}]"
            assert (code, reason) == (INVALID_REQUEST, expected)
        elif not (name == MIN_ISR or name.startswith("ssl.")):
            # Those of TLS are, in Kafka, changed listener by listener only.
            assert (code, reason) == (NONE, ""), name
