"""Quotas of users, clients and addresses: set, told, taken away."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from penstock.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from tests.conformance.clients.raw import Connection
from tests.patience import wait_until

Entity = tuple[tuple[str, str | None], ...]
Quotas = dict[Entity, dict[str, float]]

ALICE: Entity = (("user", "alice"),)
EVERYBODY: Entity = (("user", None),)
ALICE_APP: Entity = (("client-id", "app"), ("user", "alice"))
HOME: Entity = (("ip", "127.0.0.1"),)
KEYS = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
    "connection_creation_rate",
)
INVALID = ErrorCode.INVALID_REQUEST


def alter(
    connection: Connection,
    entity: Entity,
    values: dict[str, float | None],
    validate_only: bool = False,
) -> tuple[int, str | None]:
    named = [RequestEntityData(entity_type=kind, entity_name=name) for kind, name in entity]
    ops = [
        OpData(key=key, value=value or 0.0, remove=value is None) for key, value in values.items()
    ]
    request = AlterClientQuotasRequest(
        entries=[RequestEntryData(entity=named, ops=ops)], validate_only=validate_only
    )
    (answer,) = connection.call(request, 1).entries
    assert {(one.entity_type, one.entity_name) for one in answer.entity} == set(entity)
    return answer.error_code, answer.error_message


def quotas(connection: Connection, *components: ComponentData, strict: bool = False) -> Quotas:
    request = DescribeClientQuotasRequest(components=list(components), strict=strict)
    answer = connection.call(request, 1)
    assert answer.error_code == ErrorCode.NONE
    found: Quotas = {}
    for entry in answer.entries:
        entity = tuple(sorted((one.entity_type, one.entity_name) for one in entry.entity))
        found[entity] = {one.key: one.value for one in entry.values}
    return found


@pytest.fixture
def clean(connection: Connection) -> Iterator[None]:
    """Other tests expect that there are none."""
    yield
    for entity in quotas(connection):
        alter(connection, entity, dict.fromkeys(KEYS))
    wait_until(lambda: quotas(connection) == {})


@pytest.mark.usefixtures("clean")
@pytest.mark.feature("Set quotas, describe them by entity, take them away")
@pytest.mark.client("raw requests")
def test_set(connection: Connection) -> None:
    wanted: Quotas = {
        ALICE: {"producer_byte_rate": 1000.0, "request_percentage": 50.5},
        EVERYBODY: {"consumer_byte_rate": 2048.0},
        ALICE_APP: {"controller_mutation_rate": 3.5},
        HOME: {"connection_creation_rate": 10.0},
    }
    for entity, values in wanted.items():
        assert alter(connection, entity, dict(values), validate_only=True) == (0, None)
    assert quotas(connection) == {}
    for entity, values in wanted.items():
        assert alter(connection, entity, dict(values)) == (0, None)
    wait_until(lambda: quotas(connection) == wanted)
    user = ComponentData(entity_type="user", match_type=0, match="alice")
    of_alice = quotas(connection, user)
    assert set(of_alice) == {ALICE, ALICE_APP}
    assert set(quotas(connection, user, strict=True)) == {ALICE}
    by_default = ComponentData(entity_type="user", match_type=1, match=None)
    assert set(quotas(connection, by_default)) == {EVERYBODY}
    assert alter(connection, ALICE, {"producer_byte_rate": None, "consumer_byte_rate": 7.0}) == (
        0,
        None,
    )
    changed = {"request_percentage": 50.5, "consumer_byte_rate": 7.0}
    wait_until(lambda: quotas(connection)[ALICE] == changed)


@pytest.mark.usefixtures("clean")
@pytest.mark.feature("The order in which quotas and what they are for are named")
@pytest.mark.client("raw requests")
def test_order(connection: Connection) -> None:
    """Suites of clients compare lists, as hash maps there have them."""
    named = [RequestEntityData(entity_type=kind, entity_name=name) for kind, name in ALICE_APP]
    ops = [OpData(key=key, value=1.0) for key in KEYS[:3]]
    request = AlterClientQuotasRequest(entries=[RequestEntryData(entity=named[::-1], ops=ops)])
    (answer,) = connection.call(request, 1).entries
    assert [one.entity_type for one in answer.entity] == ["client-id", "user"]
    wait_until(lambda: ALICE_APP in quotas(connection))
    (entry,) = connection.call(DescribeClientQuotasRequest(components=[]), 1).entries
    assert [one.entity_type for one in entry.entity] == ["client-id", "user"]
    wanted = ["consumer_byte_rate", "request_percentage", "producer_byte_rate"]
    assert [one.key for one in entry.values] == wanted


REFUSED: list[tuple[Entity, str, float | None, str]] = [
    ((), "producer_byte_rate", 1.0, "Invalid empty client quota entity"),
    ((("planet", "a"),), "producer_byte_rate", 1.0, "Unhandled client quota entity type: planet"),
    ((("user", ""),), "producer_byte_rate", 1.0, "Empty user not supported"),
    (ALICE, "unheard_of", 1.0, "Invalid configuration key unheard_of"),
    (ALICE, "connection_creation_rate", 1.0, "Invalid configuration key connection_creation_rate"),
    (HOME, "producer_byte_rate", 1.0, "Invalid configuration key producer_byte_rate"),
    (ALICE, "producer_byte_rate", -1.0, "Quota producer_byte_rate must be greater than 0"),
    (ALICE, "producer_byte_rate", 1.5, "producer_byte_rate cannot be a fractional value."),
    (HOME, "connection_creation_rate", 1e10, "connection_creation_rate is too large for an INT."),
    ((*HOME, *ALICE), "producer_byte_rate", 1.0, "IP entity should"),
]


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize(("entity", "key", "value", "message"), REFUSED)
@pytest.mark.feature("Quotas that cannot be (INVALID_REQUEST)")
@pytest.mark.client("raw requests")
def test_refused(
    connection: Connection, entity: Entity, key: str, value: float | None, message: str
) -> None:
    code, told = alter(connection, entity, {key: value})
    assert code == INVALID
    assert message in (told or "")
    assert quotas(connection) == {}


@pytest.mark.usefixtures("clean")
@pytest.mark.feature("Take away a quota that is not there")
@pytest.mark.client("raw requests")
def test_take_away_nothing(connection: Connection) -> None:
    assert alter(connection, ALICE, {"producer_byte_rate": None, "unheard_of": None}) == (0, None)


@pytest.mark.java
@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize(
    ("kind", "shown", "key"),
    [
        ("users", "user-principal", "producer_byte_rate"),
        ("clients", "client-id", "consumer_byte_rate"),
        ("ips", "ip", "connection_creation_rate"),
    ],
)
@pytest.mark.feature("--alter and --describe of users, clients and ips")
@pytest.mark.client("kafka-configs")
def test_tool(
    tool: Callable[..., str], connection: Connection, kind: str, shown: str, key: str
) -> None:
    name = "127.0.0.1" if kind == "ips" else "somebody"
    one = ["--entity-type", kind, "--entity-name", name]
    assert "Completed updating config for" in tool(
        "kafka-configs", "--alter", *one, "--add-config", f"{key}=10"
    )
    everybody = ["--entity-type", kind, "--entity-default"]
    assert "Completed updating default config for" in tool(
        "kafka-configs", "--alter", *everybody, "--add-config", f"{key}=20"
    )
    wait_until(lambda: len(quotas(connection)) == 2)
    lines = tool("kafka-configs", "--describe", "--entity-type", kind).splitlines()
    assert set(lines) == {
        f"Quota configs for {shown} '{name}' are {key}=10.0",
        f"Quota configs for the default {shown} are {key}=20.0",
    }
    tool("kafka-configs", "--alter", *one, "--delete-config", key)
    wait_until(lambda: len(quotas(connection)) == 1)
    assert tool("kafka-configs", "--describe", *one).strip() == ""
