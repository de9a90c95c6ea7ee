"""A broker's configuration from files, the command line and dynamic changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.model.error import ApiError, ErrorCode
from penstock.settings.broker import nearest_key, validate_broker_overrides
from penstock.settings.config import BrokerConfig, parse_assignment
from penstock.settings.error import SettingError


def test_defaults() -> None:
    config = BrokerConfig.load()
    assert config.node_id == 1
    assert config.get("listeners") == ["PLAINTEXT://:9092"]
    assert config.get("advertised.listeners") is None
    assert config.log_dirs == ["penstock-data"]
    assert config.get("num.partitions") == 3
    assert config.creates_topics
    assert config.request_bytes_max == 104857600
    assert config.request_memory_bytes == 64 * 1024 * 1024
    assert config.open_files_max == 512
    assert config.idle_ms_max == 600_000
    assert config.get("max.connections") == 2**31 - 1
    assert config.fetch_bytes_max == 57671680
    assert config.fetch_sessions_max == 1000
    assert config.producer_expiration_ms == 86_400_000
    assert config.rack is None
    assert config.get("log.retention.ms") is None


def test_the_command_line_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text(
        "# a broker\nnum.partitions=5\nlog.dirs=/a, /b\nlisteners=PLAINTEXT://:1,\\\n  OTHER://:2\n"
    )
    config = BrokerConfig.load(file, ["num.partitions=7", "compression.type = zstd"])
    assert config.get("num.partitions") == 7
    assert config.log_dirs == ["/a", "/b"]
    assert config.get("listeners") == ["PLAINTEXT://:1", "OTHER://:2"]
    assert config.get("compression.type") == "zstd"
    assert config.is_set("log.dirs") and not config.is_set("log.dir")


def refusal(*assignments: str, path: Path | None = None) -> str:
    with pytest.raises(SettingError) as caught:
        BrokerConfig.load(path, assignments)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_unknown_settings_are_refused_with_the_nearest_name(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("num.partitions=1\nlog.retention.hour=3\n")
    assert refusal(path=file) == (
        f"{file}:2: unknown setting log.retention.hour; did you mean log.retention.hours?"
    )
    assert refusal("nump.artitions=3") == (
        "--set: unknown setting nump.artitions; did you mean num.partitions?"
    )
    assert refusal("qqqqqqqqqqqq=3") == "--set: unknown setting qqqqqqqqqqqq"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("listener", "listeners"),
        ("advertised.listener", "advertised.listeners"),
        ("log.segment.byte", "log.segment.bytes"),
        ("auto.create.topic.enable", "auto.create.topics.enable"),
        ("message.bytes.max", "message.max.bytes"),
    ],
)
def test_nearest_name(typed: str, meant: str) -> None:
    assert nearest_key(typed) == meant


def test_malformed_values_say_what_is_expected(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("\nnum.partitions=zero\n")
    assert refusal(path=file) == (
        f"{file}:2: Invalid value zero for configuration num.partitions: Not a number of type INT"
    )
    assert refusal("num.partitions=0").endswith("Value must be at least 1")
    assert refusal("num.partitions") == "--set num.partitions: expected key=value"
    assert refusal("=5") == "--set =5: expected key=value"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "No such file" in refusal(path=tmp_path / "missing.properties")
    binary = tmp_path / "binary.properties"
    binary.write_bytes(b"\xff\xfe\x00")
    assert refusal(path=binary).endswith("not UTF-8 text")
    escape = tmp_path / "escape.properties"
    escape.write_text("a=1\nb=\\u1")
    assert refusal(path=escape) == f"{escape}:2: malformed \\u escape: \\u1"


def test_a_typical_file_of_kafka_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text(
        "process.roles=broker,controller\nnode.id=4\n"
        "controller.quorum.bootstrap.servers=localhost:9093\n"
        "listeners=PLAINTEXT://:9092,CONTROLLER://:9093\n"
        "inter.broker.listener.name=PLAINTEXT\ncontroller.listener.names=CONTROLLER\n"
        "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT\n"
        "listener.name.plaintext.num.network.threads=5\nnum.network.threads=3\n"
    )
    config = BrokerConfig.load(file)
    assert config.node_id == 4 and config.get("broker.id") == 4
    assert config.get("listener.name.plaintext.num.network.threads") == 5


def test_the_older_name_of_the_node_id() -> None:
    assert BrokerConfig.load(None, ["broker.id=9"]).node_id == 9
    assert BrokerConfig.load(None, ["broker.id=-1"]).node_id == 1
    assert BrokerConfig.load(None, ["broker.id=-1", "node.id=2"]).node_id == 2
    assert BrokerConfig.load(None, ["broker.id=2", "node.id=+2"]).node_id == 2
    assert refusal("node.id=1", "broker.id=2") == "--set: broker.id 2 differs from node.id 1"


def test_dynamic_changes_lie_on_top() -> None:
    start = BrokerConfig.load(None, ["message.max.bytes=1000"])
    changed = start.with_dynamic({}, {"message.max.bytes": "2000"})
    own = changed.with_dynamic({"message.max.bytes": "3000"}, {"message.max.bytes": "2000"})
    values = [config.get("message.max.bytes") for config in (start, changed, own)]
    assert values == [1000, 2000, 3000]


def test_undeclared_names_are_a_key_error() -> None:
    with pytest.raises(KeyError):
        BrokerConfig().get("no.such.key")


def test_assignments_keep_further_equals_signs() -> None:
    assignment = parse_assignment("sasl.jaas.config=a b=c;")
    assert (assignment.key, assignment.value) == ("sasl.jaas.config", "a b=c;")


@pytest.mark.parametrize(
    ("overrides", "code", "message"),
    [
        (
            {"num.partitions": "3", "log.retention.ms": "5", "node.id": "2"},
            ErrorCode.INVALID_REQUEST,
            "Cannot update these configs dynamically: [node.id, num.partitions]",
        ),
        # Kafka could change these; here they would be shown and have no effect.
        (
            {"listeners": "PLAINTEXT://:1"},
            ErrorCode.INVALID_REQUEST,
            "Cannot update these configs dynamically: [listeners]",
        ),
        (
            {"ssl.provider": "SunJSSE", "ssl.engine.factory.class": "a.B"},
            ErrorCode.INVALID_REQUEST,
            "Cannot update these configs dynamically: [ssl.engine.factory.class, ssl.provider]",
        ),
        (
            {"num.io.threads": "x"},
            ErrorCode.INVALID_REQUEST,
            "Invalid value x for configuration num.io.threads: Not a number of type INT",
        ),
    ],
)
def test_refused_dynamic_changes(overrides: dict[str, str], code: ErrorCode, message: str) -> None:
    with pytest.raises(ApiError) as caught:
        validate_broker_overrides(overrides)
    assert (caught.value.code, caught.value.message) == (code, message)


def test_allowed_dynamic_changes() -> None:
    validate_broker_overrides({"log.retention.ms": "5", "num.io.threads": "4"})
    validate_broker_overrides({"listener.name.plaintext.num.network.threads": "8"})
    validate_broker_overrides({"leader.replication.throttled.rate": "1000"})
    validate_broker_overrides({"custom.plugin.key": "anything"})


def test_changes_that_cannot_be_followed_are_left_out_and_named() -> None:
    """A metadata log may have been written by Apache Kafka, or by another version."""
    config = BrokerConfig().with_dynamic(
        {"listeners": "PLAINTEXT://:1", "log.retention.ms": "soon", "foo.bar": "z"},
        {"ssl.provider": "SunJSSE", "log.retention.bytes": "5", "log.retention.ms": "7"},
    )
    assert config.ignored == {"listeners", "log.retention.ms", "ssl.provider"}
    assert config.get("listeners") == ["PLAINTEXT://:9092"]
    assert (config.get("log.retention.ms"), config.get("log.retention.bytes")) == (7, 5)


def test_what_has_no_effect_is_named() -> None:
    config = BrokerConfig.load(None, ["num.io.threads=9", "num.network.threads=3", "node.id=1"])
    assert config.unread == ["num.io.threads"]
    changed = config.with_dynamic({"num.io.threads": "8", "background.threads": "4"}, {"foo": "z"})
    assert changed.unread == ["background.threads", "foo"]
