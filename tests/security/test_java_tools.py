"""Kafka's own tools on encrypted listeners, with a certificate and with a login over TLS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock.testing.broker import Broker
from penstock.testing.port import HOST, free_port
from tests.security.sasl_kit import ALICE, set_password
from tests.security.tls_kit import Keys, servers_of
from tools import apache_kafka
from tools.tool_host import shared_tool_host

pytestmark = [pytest.mark.java, pytest.mark.timeout(600)]

MECHANISM = "SCRAM-SHA-512"
MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
Tool = Callable[..., str]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return Keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, keys: Keys) -> Iterator[Broker]:
    if (reason := apache_kafka.missing_prerequisite()) is not None:
        pytest.skip(reason)
    names = ("PLAINTEXT", "SSL", "SASL_SSL")
    settings = keys.node_settings | {
        "listeners": ",".join(f"{name}://{HOST}:{free_port()}" for name in names),
        "listener.name.ssl.ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^CN=(.*?),.*$/$1/,DEFAULT",
        "sasl.enabled.mechanisms": MECHANISM,
        "delegation.token.secret.key": "of the cluster",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:{ALICE[0]};User:ANONYMOUS",
        "num.partitions": 1,
    }
    with Broker(tmp_path_factory.mktemp("broker") / "data", settings) as running:
        set_password(servers_of(running, "PLAINTEXT"), *ALICE)
        yield running


@pytest.fixture(params=["SSL", "SASL_SSL"])
def tool(request: pytest.FixtureRequest, broker: Broker, keys: Keys, tmp_path: Path) -> Tool:
    protocol: str = request.param
    settings = {
        "security.protocol": protocol,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(keys.ca),
    }
    if protocol == "SSL":
        store = keys.write("alice.pem", "".join(path.read_text() for path in keys.client))
        settings |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(store)}
    else:
        login = f'{MODULE} required username="{ALICE[0]}" password="{ALICE[1]}";'
        settings |= {"sasl.mechanism": MECHANISM, "sasl.jaas.config": login}
    file = tmp_path / "client.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))

    def run(name: str, *arguments: str, stdin: str | None = None) -> str:
        address = ["--bootstrap-server", servers_of(broker, protocol)]
        config = ["--command-config", str(file)]
        done = shared_tool_host().run(name, [*address, *config, *arguments], stdin=stdin)
        assert done.returncode == 0, f"{name}: {done.stdout}\n{done.stderr}"
        return done.stdout

    return run


def test_tools(tool: Tool) -> None:
    tool("kafka-console-producer", "--topic", "java", stdin="one\ntwo\n")
    reading = ("--topic", "java", "--from-beginning", "--max-messages", "2")
    assert tool("kafka-console-consumer", *reading).split() == ["one", "two"]

    what = ("--topic", "java", "--allow-principal", "User:bob", "--operation", "Read")
    tool("kafka-acls", "--add", *what)
    assert "principal=User:bob, host=*, operation=READ" in tool("kafka-acls", "--list")

    user = ("--entity-type", "users", "--entity-name", "bob")
    for change in (
        "producer_byte_rate=1024",
        "SCRAM-SHA-512=[iterations=4096,password=of-bob]",
    ):
        tool("kafka-configs", "--alter", *user, "--add-config", change)
    shown = tool("kafka-configs", "--describe", *user)
    assert "producer_byte_rate=1024" in shown and "SCRAM-SHA-512=iterations=4096" in shown

    made = tool("kafka-delegation-tokens", "--create", "--max-life-time-period", "-1").split()
    token_id = next(word for word in made if len(word) == 22)
    whose = ("--describe", "--owner-principal", f"User:{ALICE[0]}")
    assert token_id in tool("kafka-delegation-tokens", *whose)
