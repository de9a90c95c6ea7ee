"""`penstock topics`, `configs` and `log-dirs` against a running broker."""

from __future__ import annotations

from tests.unit.cli.conftest import Command


def test_a_topic_from_creation_to_deletion(command: Command, topic: str) -> None:
    created = command.run("topics", "create", topic, "-p", "2", "-s", "retention.ms=60000")
    assert created.lines == [f"created {topic}"]

    listed = [
        each for each in command.run("topics", "list", "--json").json if each["topic"] == topic
    ]
    assert listed == [{"topic": topic, "partitions": 2, "replicas": 1}]

    command.run("topics", "alter", topic, "-p", "3", "-s", "segment.ms=9000", "-u", "retention.ms")
    (described,) = command.run("topics", "describe", topic, "--json").json
    assert described["settings"] == {"segment.ms": "9000"}
    assert [each["partition"] for each in described["partitions"]] == [0, 1, 2]
    assert [each["end_offset"] for each in described["partitions"]] == [0, 0, 0]

    assert command.run("topics", "delete", topic).lines == [f"deleted {topic}"]
    assert topic not in [each["topic"] for each in command.run("topics", "list", "--json").json]


def test_tables_for_people(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    lines = command.run("topics", "describe", topic).lines
    assert lines[0].startswith(f"{topic}  1 partition, id ")
    assert lines[1].split() == ["PARTITION", "LEADER", "REPLICAS", "ISR", "START", "END"]
    assert command.run("topics", "list").lines[0].split() == ["TOPIC", "PARTITIONS", "REPLICAS"]


def test_a_topic_without_a_number_gets_the_brokers_default(command: Command, topic: str) -> None:
    command.run("topics", "create", topic)
    (described,) = command.run("topics", "describe", topic, "--json").json
    assert len(described["partitions"]) == 3


def test_existing_and_missing_topics(command: Command, topic: str) -> None:
    command.run("topics", "create", topic)
    assert "TOPIC_ALREADY_EXISTS" in command.fail("topics", "create", topic)
    again = command.run("topics", "create", topic, "--if-not-exists", "--json")
    assert again.json == {"created": [], "existing": [topic]}

    missing = f"there is no topic {topic}-x; `penstock topics list` shows those there are"
    assert command.fail("topics", "delete", f"{topic}-x") == missing
    assert command.fail("topics", "describe", f"{topic}-x") == missing
    assert command.fail("configs", "describe", "topic", f"{topic}-x") == missing
    command.run("topics", "delete", f"{topic}-x", "--if-exists")


def test_validate_only_creates_nothing(command: Command, topic: str) -> None:
    assert command.run("topics", "create", topic, "--validate-only").lines == [f"valid {topic}"]
    command.fail("topics", "describe", topic)


def test_refused_changes_say_why(command: Command, topic: str) -> None:
    assert "retension.ms" in command.fail("topics", "create", topic, "-s", "retension.ms=1")
    command.run("topics", "create", topic, "-p", "2")
    assert "INVALID_PARTITIONS" in command.fail("topics", "alter", topic, "-p", "1")
    assert "INVALID_CONFIG" in command.fail("topics", "alter", topic, "-s", "retention.ms=x")


def test_settings_of_a_topic(command: Command, topic: str) -> None:
    command.run("topics", "create", topic)
    command.run("configs", "set", "topic", topic, "retention.ms=5000", "cleanup.policy=compact")
    own = command.run("configs", "describe", "topic", topic, "--own", "--json").json
    assert {each["name"]: (each["value"], each["source"]) for each in own} == {
        "cleanup.policy": ("compact", "topic"),
        "retention.ms": ("5000", "topic"),
    }

    command.run("configs", "unset", "topic", topic, "retention.ms")
    every = command.run("configs", "describe", "topic", topic, "--json").json
    values = {each["name"]: each["value"] for each in every}
    assert (values["retention.ms"], values["cleanup.policy"]) == ("604800000", "compact")

    listed = command.run("configs", "list", "--json").json
    assert {"kind": "topic", "name": topic, "settings": {"cleanup.policy": "compact"}} in listed


def test_settings_of_a_broker(command: Command) -> None:
    broker = command.run("log-dirs", "--json").json[0]
    described = command.run("configs", "describe", "broker", str(broker["broker"]), "--json").json
    values = {each["name"]: each for each in described}
    assert values["num.partitions"]["value"] == "3"
    assert values["num.partitions"]["source"] == "start"


def test_a_broker_that_is_not_there(command: Command) -> None:
    broker = command.run("log-dirs", "--json").json[0]["broker"]
    said = f"there is no broker 77; in this cluster is only broker {broker}"
    assert command.fail("configs", "describe", "broker", "77") == said
    assert command.fail("configs", "set", "broker", "77", "log.retention.ms=5") == said
    assert command.fail("configs", "unset", "broker", "77", "log.retention.ms") == said
    named = command.fail("configs", "describe", "broker", "first", code=2)
    assert named == "a broker is named by its number, not 'first'"


def test_settings_of_a_broker_that_cannot_change(command: Command) -> None:
    broker = str(command.run("log-dirs", "--json").json[0]["broker"])
    before = command.run("configs", "describe", "broker", broker, "--json").json
    said = command.fail("configs", "set", "broker", broker, "num.partitions=7", "node.id=7")
    assert "Cannot update these configs dynamically: [node.id, num.partitions]" in said
    assert "INVALID_REQUEST" in said
    mistyped = command.fail("configs", "set", "broker", broker, "log.retenton.ms=7", code=2)
    assert mistyped == "unknown setting log.retenton.ms; did you mean log.retention.ms?"
    assert command.run("configs", "describe", "broker", broker, "--json").json == before


def test_log_dirs_shows_sizes(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    command.run("produce", topic, "-v", "x" * 1000, "-z", "none")
    (directory,) = command.run("log-dirs", "-t", topic, "--json").json
    (partition,) = directory["partitions"]
    assert (partition["topic"], partition["partition"]) == (topic, 0)
    assert partition["size_bytes"] > 1000
    lines = command.run("log-dirs", "-t", topic).lines
    assert directory["path"] in lines[0]
    assert lines[1].split() == ["TOPIC", "PARTITION", "BYTES", "LAG"]
    assert "there is no broker 77" in command.fail("log-dirs", "--broker", "77")
    assert "there is no topic gone" in command.fail("log-dirs", "-t", topic, "-t", "gone")
    assert "above 0" in command.fail("log-dirs", "--free", "--older", "0s", code=2)
