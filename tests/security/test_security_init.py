"""`penstock security init`: a cluster that lets in whom it should, and nobody else."""

from __future__ import annotations

import os
import ssl
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.cli.security.authority import Authority
from penstock.cli.security.playground import Playground
from penstock.model.security_protocol import SecurityProtocol
from penstock.node.cluster_config import cluster_config
from penstock.settings.config import BrokerConfig
from penstock.testing.broker import Broker
from penstock.testing.port import free_port
from tests.page_kit import sections
from tests.security.tls_kit import PATIENCE_S, asks
from tests.unit.cli.conftest import PENSTOCK
from tools.tool_host import shared_tool_host


def penstock(*arguments: str, stdin: str = "") -> str:
    done = subprocess.run(
        [PENSTOCK, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("secure") / "made"
    said = penstock(
        "security", "init", str(folder), "--client", "alice", "--port", str(free_port())
    )
    assert f"penstock start --config {folder}/node-1.properties" in said
    assert "In production" in said
    return folder


@pytest.fixture(scope="module")
def broker(made: Path) -> Iterator[Broker]:
    lines = (made / "node-1.properties").read_text().splitlines()
    settings = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
    with Broker(Path(settings.pop("log.dirs")), settings) as running:
        yield running


def test_keys_are_their_owners_alone(made: Path) -> None:
    for path in (*made.glob("*.key"), *made.glob("*.pem")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_it_does_not_write_over_what_is_there(made: Path) -> None:
    again = [PENSTOCK, "security", "init", str(made)]
    done = subprocess.run(again, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 1 and "exists already" in done.stderr


def test_the_commands_of_the_page(broker: Broker, made: Path, tmp_path: Path) -> None:
    """docs/security.md, after the node is started."""
    _, block, *_ = sections("docs/security.md")["Encryption (TLS)"]
    script = block.text.replace("secure/", f"{made}/")
    script = script.replace("127.0.0.1:9092", broker.bootstrap_servers)
    path = f"{Path(PENSTOCK).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e"],
        input=script,
        env=os.environ | {"PATH": path, "XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "one"


def asks_as_alice(broker: Broker, made: Path) -> bytes:
    host, _, port = broker.bootstrap_servers.rpartition(":")
    context = ssl.create_default_context(cafile=str(made / "ca.crt"))
    context.load_cert_chain(str(made / "alice.pem"))
    return asks((host, int(port)), context)


def test_nobody_else_gets_in(broker: Broker) -> None:
    host, _, port = broker.bootstrap_servers.rpartition(":")
    stranger = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE
    with pytest.raises((ssl.SSLError, ConnectionError)):
        asks((host, int(port)), stranger)


@pytest.mark.java
@pytest.mark.timeout(300)
def test_javas_tools(broker: Broker, made: Path) -> None:
    to = ["--bootstrap-server", broker.bootstrap_servers]
    config = ["--command-config", str(made / "alice.properties")]

    def run(name: str, *arguments: str, stdin: str | None = None) -> str:
        done = shared_tool_host().run(name, [*to, *config, *arguments], stdin=stdin)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    run("kafka-console-producer", "--topic", "java", stdin="one\ntwo\n")
    read = run(
        "kafka-console-consumer",
        *("--topic", "java", "--from-beginning", "--max-messages", "2"),
    )
    assert read.split() == ["one", "two"]
    keystore = made / "other.pem"
    keystore.write_text((made / "node-1.pem").read_text())
    own = f"listener.name.ssl.ssl.keystore.location={keystore}"
    entity = ("--entity-type", "brokers", "--entity-name", "1")
    run("kafka-configs", "--alter", *entity, "--add-config", own)
    assert asks_as_alice(broker, made)


def test_settings_of_three_nodes_say_nothing_in_plain_text(tmp_path: Path) -> None:
    made = Playground(tmp_path, 3, ("alice",), ("kafka.example",), 9092)
    for file in made.files(Authority.create()):
        file.path.write_text(file.text)
    places = [cluster_config(BrokerConfig.load(made.config_of(node))) for node in made.nodes]
    assert [place.node_id for place in places] == [1, 2, 3]
    for place in places:
        assert len(place.voters) == 3
        assert {each.protocol for each in place.listeners} == {SecurityProtocol.SSL}
