"""`penstock security init`: a cluster that lets in whom it should, and nobody else."""

from __future__ import annotations

import ssl
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.testing.broker import Broker
from penstock.testing.port import HOST, free_port
from tests.security.tls_kit import PATIENCE_S, asks
from tests.unit.cli.conftest import PENSTOCK
from tools.apache_kafka import run_tool


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


def client_settings(made: Path) -> list[str]:
    values = {
        "security.protocol": "ssl",
        "ssl.ca.location": made / "ca.crt",
        "ssl.certificate.location": made / "alice.crt",
        "ssl.key.location": made / "alice.key",
    }
    return [word for key, value in values.items() for word in ("-X", f"{key}={value}")]


def test_keys_are_their_owners_alone(made: Path) -> None:
    for path in (*made.glob("*.key"), *made.glob("*.pem")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_it_does_not_write_over_what_is_there(made: Path) -> None:
    again = [PENSTOCK, "security", "init", str(made)]
    done = subprocess.run(again, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 1 and "exists already" in done.stderr


def test_our_own_commands(broker: Broker, made: Path) -> None:
    to = ("-b", broker.bootstrap_servers, *client_settings(made))
    penstock(*to, "topics", "create", "orders")
    penstock(*to, "produce", "orders", stdin="one\ntwo\n")
    read = penstock(*to, "consume", "orders", "-n", "2")
    assert sorted(read.split()) == ["one", "two"]


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
        done = run_tool(name, [*to, *config, *arguments], stdin=stdin)
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


def test_three_nodes_can_be_formatted_as_it_says(tmp_path: Path) -> None:
    folder = tmp_path / "three"
    said = penstock("security", "init", str(folder), "--nodes", "3")
    for line in said.splitlines():
        if line.startswith("penstock storage format"):
            penstock(*line.split()[1:])
    configs = sorted(folder.glob("node-*.properties"))
    assert len(configs) == 3
    for config in configs:
        assert f"SSL://{HOST}:" in config.read_text()
