"""Starting from Kafka's own kind of settings file, and stopping without losing or repeating."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from penstock.model.error import ErrorCode
from penstock.node.main import _serve
from penstock.protocol.messages.metadata import MetadataRequest
from penstock.testing.port import free_port
from tests.node.test_full_disk import create, read_all
from tests.node.wire_kit import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    Wire,
    batch,
    fetch,
    part,
    produce,
    produced,
)
from tests.unit.cli.conftest import PENSTOCK
from tests.unit.cli.test_cli_start import ANYWHERE, refused, started

SERVER_PROPERTIES = """\
############################# Server Basics #############################
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:{controller_port}

############################# Socket Server Settings #############################
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://:{controller_port}
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:{port},CONTROLLER://localhost:{controller_port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,\\
    SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600

############################# Log Basics #############################
log.dirs={data}
num.partitions=5
num.recovery.threads.per.data.dir=2
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1

#log.flush.interval.messages=10000
#log.flush.interval.ms=1000
log.retention.hours=168
#log.retention.bytes=1073741824
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
"""


def test_a_settings_file_as_kafka_ships_it(tmp_path: Path) -> None:
    port, controller_port, data = free_port(), free_port(), tmp_path / "logs"
    file = tmp_path / "server.properties"
    file.write_text(SERVER_PROPERTIES.format(port=port, controller_port=controller_port, data=data))
    with started("--config", str(file)) as broker:
        assert broker.address == f"127.0.0.1:{port}"
        with Wire(broker.address) as wire:
            found = wire.call(MetadataRequest(topics=None), 9)
            assert [(each.host, each.port) for each in found.brokers] == [("localhost", port)]
            assert wire.call(create("t"), 7).topics[0].error_code == 0
        command = [PENSTOCK, "-b", broker.address, "configs", "describe", "broker", "1", "--json"]
        answer = subprocess.run(command, capture_output=True, check=True)
        settings = {each["name"]: each["value"] for each in json.loads(answer.stdout)}
        assert settings["num.partitions"] == "5"
        assert settings["log.retention.hours"] == "168"
        assert broker.end(signal.SIGTERM)[0] == 0
    assert (data / "meta.properties").exists()


BROKER_PROPERTIES = """\
process.roles=broker
node.id=2
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://localhost:9092
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={data}
"""
CONTROLLER_PROPERTIES = """\
process.roles=controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=CONTROLLER://:9093
advertised.listeners=CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
log.dirs={data}
"""


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (BROKER_PROPERTIES, "is not formatted: penstock storage format"),
        (CONTROLLER_PROPERTIES.replace("servers=localhost", "servers=other"), "is not formatted"),
    ],
)
def test_a_node_of_a_larger_cluster_is_formatted_first(
    tmp_path: Path, text: str, named: str
) -> None:
    """As Kafka ships them: such a node must not start a cluster of its own beside the other."""
    file = tmp_path / "server.properties"
    file.write_text(text.format(data=tmp_path / "data"))
    assert named in refused("--config", str(file))
    assert not (tmp_path / "data" / "meta.properties").exists()


NODE = (
    "node.id=1",
    "controller.listener.names=CONTROLLER",
    "listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:9093",
)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (
            [*NODE, "controller.quorum.voters=1@localhost:9093,2@other:9093"],
            "--listen is for a node alone",
        ),
        ([*NODE, "controller.quorum.voters=7@localhost:9093"], "names 7@localhost:9093"),
        ([*NODE, "controller.quorum.bootstrap.servers=other:9093"], "--listen is for"),
        (["process.roles=broker"], "process.roles=broker: "),
        (["offsets.topic.replication.factor=3"], "offsets.topic.replication.factor=3: "),
        (["authorizer.class.name=a.B"], "authorizer.class.name: "),
        (["sasl.kerberos.service.name=k"], "sasl.kerberos.service.name=k: "),
        (["ssl.provider=SunJSSE"], "ssl.provider=SunJSSE: "),
        (["log.retention.ms=0"], "log.retention.ms=0: "),
    ],
)
def test_settings_that_promise_what_is_not_there(
    tmp_path: Path, settings: list[str], named: str
) -> None:
    options = [word for each in settings for word in ("--set", each)]
    assert named in refused(*ANYWHERE, "--data-dir", str(tmp_path / "data"), *options)


@pytest.mark.parametrize("option", ["--listen", "--advertise"])
@pytest.mark.parametrize("protocol", ["SSL", "SASL_SSL", "SASL_PLAINTEXT", "INSIDE"])
def test_an_address_of_another_protocol(tmp_path: Path, option: str, protocol: str) -> None:
    data = ("--data-dir", str(tmp_path / "data"))
    said = refused(*data, option, f"{protocol}://127.0.0.1:0")
    assert said.startswith(f"{option} '{protocol}://127.0.0.1:0': expected HOST:PORT")


def test_the_command_line_excuses_no_file(tmp_path: Path) -> None:
    data = ("--data-dir", str(tmp_path / "data"))
    said = refused(*ANYWHERE, *data, "--set", "listeners=SSL://127.0.0.1:0")
    assert "listener SSL: " in said
    said = refused(*ANYWHERE, *data, "--advertise", "0.0.0.0:9092")
    assert "no client can connect to 0.0.0.0" in said


def test_what_has_no_effect_is_said_once(tmp_path: Path) -> None:
    options = ("--data-dir", str(tmp_path / "data"), "--set", "num.io.threads=9")
    with started(*ANYWHERE, *options, "--set", "num.network.threads=3") as broker:
        for value in ("4", "5"):
            setting = ("configs", "set", "broker", "1", f"background.threads={value}")
            subprocess.run([PENSTOCK, "-b", broker.address, *setting], check=True)
        _, _, said = broker.end(signal.SIGTERM)
    warned = [line for line in said.splitlines() if "without effect" in line]
    assert [line.rpartition("settings=")[2] for line in warned] == [
        "num.io.threads",
        "background.threads",
    ]


def test_a_chosen_number_of_replicas_is_kept_or_refused(tmp_path: Path) -> None:
    """As Kafka does: three replicas were asked for, and one node cannot have them."""
    options = ("--data-dir", str(tmp_path / "data"), "--set", "default.replication.factor=3")
    with started(*ANYWHERE, *options) as broker, Wire(broker.address) as wire:
        request = create("t")
        request.topics[0].replication_factor = -1
        assert wire.call(request, 7).topics[0].error_code == ErrorCode.INVALID_REPLICATION_FACTOR


def test_stopped_before_it_is_ready() -> None:
    """A signal during a long start, such as a recovery, is not put off until its end."""

    class Starting:
        given_up = False

        async def start(self) -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            try:
                await asyncio.Event().wait()
            finally:
                self.given_up = True

    node = Starting()
    never = pytest.fail
    assert asyncio.run(_serve(node, lambda _: never("announced"), lambda: never("left"))) == 0  # type: ignore[arg-type]
    assert node.given_up


def test_settings_that_ask_for_more_than_is_served_are_refused(tmp_path: Path) -> None:
    data = ("--data-dir", str(tmp_path / "data"))
    mapped = ("--set", "listeners=INSIDE://:0", "--set")
    assert "GSSAPI, its default, which is not served" in refused(
        *data, *mapped, "listener.security.protocol.map=INSIDE:SASL_SSL"
    )
    several = ("--set", "listeners=PLAINTEXT://127.0.0.1:0,OTHER://127.0.0.1:0", "--set")
    assert "PLAINTEXT, OTHER" in refused(
        *ANYWHERE,
        *data,
        *several,
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT",
    )
    assert "none for clients" in refused(*data, "--set", "listeners=CONTROLLER://:0")


def test_a_listener_by_another_name(tmp_path: Path) -> None:
    port = free_port()
    settings = {
        "listeners": f"CTRL://:1,INSIDE://:{port}",
        "advertised.listeners": f"CTRL://c:1,INSIDE://inside.example:{port}",
        "controller.listener.names": "CTRL",
        "listener.security.protocol.map": "CTRL:PLAINTEXT,INSIDE:PLAINTEXT",
    }
    options = [word for item in settings.items() for word in ("--set", "=".join(item))]
    with started(*options, "--data-dir", str(tmp_path / "data")) as broker:
        assert broker.address == f"0.0.0.0:{port}"
        with Wire(f"127.0.0.1:{port}") as wire:
            (node,) = wire.call(MetadataRequest(topics=None), 9).brokers
            assert (node.host, node.port) == ("inside.example", port)


def test_ipv6(tmp_path: Path) -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("no IPv6 on this machine")
    where = ("--listen", "[::1]:0", "--metrics", "[::1]:0")
    with started(*where, "--data-dir", str(tmp_path / "data")) as broker:
        host, port = broker.address.rsplit(":", 1)
        assert host == "[::1]"
        assert int(port) > 0
        assert broker.ready["metrics"].startswith("[::1]:")
        with Wire(broker.address) as wire:
            (node,) = wire.call(MetadataRequest(topics=None), 9).brokers
            assert (node.host, node.port) == ("::1", int(port))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_is_under_way_is_answered_before_the_end(
    tmp_path: Path, number: signal.Signals
) -> None:
    data = tmp_path / "data"
    with started(*ANYWHERE, "--data-dir", str(data)) as broker, Wire(broker.address) as wire:
        assert wire.call(create("t"), 7).topics[0].error_code == 0
        assert wire.call(create("quiet"), 7).topics[0].error_code == 0
        wire.send(fetch({"quiet": [part()]}, max_wait_ms=700), FETCH_VERSION)
        for each in range(20):
            wire.send(produce("t", batch(b"%d" % each)), PRODUCE_VERSION)
        with Wire(broker.address) as other:
            # Until all of it has been read and written.
            deadline = time.monotonic() + 60
            while len(read_all(other)) < 20:
                assert time.monotonic() < deadline
        broker.process.send_signal(number)
        assert wire.receive().error_code == 0
        offsets = [produced(wire.receive()).base_offset for _ in range(20)]
        assert offsets == list(range(20))
        assert wire.is_closed()
        assert broker.process.wait(60) == 0
    assert json.loads((data / ".kafka_cleanshutdown").read_text())["version"] == 0
    with started(*ANYWHERE, "--data-dir", str(data)) as broker:
        assert not (data / ".kafka_cleanshutdown").exists()
        with Wire(broker.address) as wire:
            assert read_all(wire) == [b"%d" % each for each in range(20)]
        code, _, said = broker.end(signal.SIGTERM)
    assert code == 0
    assert "recover" not in said


def test_after_a_kill_the_logs_are_recovered(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with started(*ANYWHERE, "--data-dir", str(data)) as broker:
        with Wire(broker.address) as wire:
            assert wire.call(create("t"), 7).topics[0].error_code == 0
            wire.call(produce("t", batch(b"x")), PRODUCE_VERSION)
        broker.end(signal.SIGKILL)
    log = data / "t-0" / "00000000000000000000.log"
    with log.open("ab") as file:
        file.write(b"torn")
    with started(*ANYWHERE, "--data-dir", str(data)) as broker:
        with Wire(broker.address) as wire:
            assert read_all(wire) == [b"x"]
        _, _, said = broker.end(signal.SIGTERM)
    assert "logs recovered" in said
    assert said.count("t-0 is cut at offset 1") == 1
    assert "4 bytes are gone, in which no record can be made out" in said


def test_without_what_identifies_it_or_holds_the_truth_it_does_not_start(tmp_path: Path) -> None:
    """In one line, which says what is wrong and what can be done; nothing is touched."""
    data = tmp_path / "data"
    start = (*ANYWHERE, "--data-dir", str(data))
    with started(*start) as broker:
        with Wire(broker.address) as wire:
            assert wire.call(create("t"), 7).topics[0].error_code == 0
        broker.end(signal.SIGTERM)
    meta = data / "meta.properties"
    journal = data / "__cluster_metadata-0" / "00000000000000000000.log"
    for path, cut in ((meta, 40), (journal, 300), (journal, 0)):
        kept = path.read_bytes()
        for damaged in (kept[:cut], b"\xff" * 50, kept[:40] + b"\0" * 400):
            path.write_bytes(damaged)
            said = refused(*start)
            assert str(path.parent if path == journal else path) in said
            assert "copy" in said
            assert path.read_bytes() == damaged
        path.write_bytes(kept)
    with started(*start) as broker, Wire(broker.address) as wire:
        assert wire.call(MetadataRequest(topics=None), 12).topics[0].name == "t"


def test_a_second_signal_does_no_harm(tmp_path: Path) -> None:
    with started(*ANYWHERE, "--data-dir", str(tmp_path / "data")) as broker:
        with Wire(broker.address) as wire:
            assert wire.call(create("quiet"), 7).topics[0].error_code == 0
            wire.send(fetch({"quiet": [part()]}, max_wait_ms=500), FETCH_VERSION)
            time.sleep(0.1)
            broker.process.send_signal(signal.SIGTERM)
            time.sleep(0.1)
            broker.process.send_signal(signal.SIGTERM)
            assert wire.receive().error_code == 0
        assert broker.process.wait(60) == 0


def test_starts_that_cannot_be_are_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert str(file) in refused(*ANYWHERE, "--data-dir", str(file))
    data = ("--data-dir", str(tmp_path / "data"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert str(port) in refused(*ANYWHERE, *data, "--metrics", f"127.0.0.1:{port}")
    assert "192.0.2.1" in refused("--listen", "192.0.2.1:0", *data)
    with started(*ANYWHERE, *data) as broker:
        broker.end(signal.SIGTERM)
    assert "node 1" in refused(*ANYWHERE, *data, "--set", "node.id=7")
    if os.geteuid():
        locked = tmp_path / "locked"
        locked.mkdir(mode=0o500)
        assert "locked" in refused(*ANYWHERE, "--data-dir", str(locked / "data"))
