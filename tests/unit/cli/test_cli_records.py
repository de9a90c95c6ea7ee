"""`penstock produce` and `consume` against a running broker."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.unit.cli.conftest import PENSTOCK, Command


def test_lines_in_lines_out(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    said = command.run("produce", topic, stdin=b"one\n\nthree\n").lines
    assert said[0].startswith(f"produced 3 records to {topic} in ")
    assert command.run("consume", topic).out == b"one\n\nthree\n"


def test_keys_headers_and_partition(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "2")
    options = ("-K", ":", "-H", "trace=7", "-p", "1", "--timestamp", "@1600000000123")
    command.run("produce", topic, *options, stdin=b"a:1\n")
    line = command.run("consume", topic, "-k", "-H", "-m", "--separator", "|").lines
    assert line == ["1:0|2020-09-13T12:26:40.123Z|trace=7|a|1"]
    assert command.run("consume", topic, "-p", "0").out == b""


def test_json_lines_copy_a_topic(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, f"{topic}-copy", "-p", "1", "-s", "retention.ms=-1")
    command.run("produce", topic, "-k", "k", "-H", "h=v", "-v", "text", "-v", "more")
    command.run("produce", topic, "-k", "k", "--tombstone")
    command.run("produce", topic, "--format", "hex", "-v", "ff00")
    lines = command.run("consume", topic, "--json").out
    command.run("produce", f"{topic}-copy", "--records", "--quiet", stdin=lines)

    def content(name: str) -> list[dict[str, object]]:
        records = [json.loads(each) for each in command.run("consume", name, "--json").lines]
        return [{key: each[key] for key in each if key != "topic"} for each in records]

    assert content(topic) == content(f"{topic}-copy")
    assert [each.get("value") for each in content(topic)] == ["text", "more", None, None]
    assert content(topic)[3]["value_base64"] == "/wA="


def test_delivery_reports(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    answer = command.run("produce", topic, "-v", "a", "-v", "b", "--json")
    reports = [json.loads(line) for line in answer.lines]
    assert [(each["topic"], each["partition"], each["offset"]) for each in reports] == [
        (topic, 0, 0),
        (topic, 0, 1),
    ]


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_every_compression(command: Command, topic: str, compression: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    command.run("produce", topic, "-z", compression, "-v", "z" * 1000)
    assert command.run("consume", topic).out == b"z" * 1000 + b"\n"


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_every_acks(command: Command, topic: str, acks: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    command.run("produce", topic, "--acks", acks, "-v", "x")
    assert command.run("consume", topic, "-f", "-n", "1").out == b"x\n"


def test_places_to_start_and_to_stop(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1", "-s", "retention.ms=-1")
    for number in range(5):
        moment = f"@{1_600_000_000_000 + number * 1000}"
        command.run("produce", topic, "-v", str(number), "--timestamp", moment)

    def values(*options: str) -> str:
        return "".join(command.run("consume", topic, *options).lines)

    assert values() == "01234"
    assert values("--from", "3") == "34"
    assert values("--from", "-2") == "34"
    assert values("--from", "end") == ""
    assert values("--from", "2020-09-13T12:26:41.500Z") == "234"
    assert values("--from", "@1600000003000", "-n", "1") == "3"
    assert values("--from", "-1h") == ""
    assert values("--from", "1", "--until", "3") == "12"
    assert values("--until", "@1600000002000") == "01"
    assert values("-n", "0") == ""


def test_records_from_a_file(command: Command, topic: str, tmp_path: Path) -> None:
    file = tmp_path / "input"
    file.write_bytes(b"a\nb\n")
    command.run("topics", "create", topic, "-p", "1")
    command.run("produce", topic, "-f", str(file))
    command.run("produce", topic, "-f", str(file), "--whole")
    assert command.run("consume", topic, "--format", "hex").lines == ["61", "62", "610a620a"]
    assert "No such file" in command.fail("produce", topic, "-f", str(tmp_path / "missing"))


def test_follow_sees_what_comes_and_ends_by_interrupt(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    arguments = [PENSTOCK, "consume", topic, "--follow"]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=command.environment()
    ) as reader:
        assert reader.stdout is not None
        assert reader.stderr is not None
        for value in ("first", "second"):
            command.run("produce", topic, "-v", value)
            assert reader.stdout.readline() == value.encode() + b"\n"
        reader.send_signal(signal.SIGINT)
        assert reader.wait(10) == 130
        assert reader.stderr.read() == b""


def test_a_reader_that_goes_away_is_no_error(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    command.run("produce", topic, stdin=b"some line of text\n" * 50_000)
    with subprocess.Popen(
        [PENSTOCK, "consume", topic],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=command.environment(),
    ) as reader:
        assert reader.stdout is not None
        assert reader.stderr is not None
        assert reader.stdout.readline() == b"some line of text\n"
        reader.stdout.close()
        assert reader.wait(10) == 0
        assert reader.stderr.read() == b""


def test_mistakes_are_one_line(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    assert command.fail("consume", f"{topic}-x").startswith(f"there is no topic {topic}-x")
    assert command.fail("consume", topic, "-p", "5") == f"{topic} has no partition 5"
    assert "no such partition" in command.fail("produce", topic, "-v", "x", "-p", "5")
    assert "is not hex" in command.fail("produce", topic, "-v", "x", "--format", "hex")
    command.run("produce", topic, "-v", "{")
    assert "is not JSON" in command.fail("consume", topic, "--format", "json")


def test_what_was_read_before_a_bad_line_is_sent(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    said = command.fail("produce", topic, "--format", "json", stdin=b"1\n2\n{\n4\n")
    assert said.startswith("record 3: ")
    assert command.run("consume", topic).lines == ["1", "2"]


def test_a_record_too_large_is_the_brokers_to_refuse(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1", "-s", "max.message.bytes=1000")
    said = command.fail("produce", topic, "-z", "none", "-v", "x" * 2000)
    assert "MSG_SIZE_TOO_LARGE" in said


def test_nobody_there(nowhere: Command) -> None:
    said = (
        "no broker answers at 127.0.0.1:1; start one with `penstock start`, or name another with -b"
    )
    for arguments in (
        ("topics", "list"),
        ("produce", "t", "-v", "x"),
        ("consume", "t"),
        ("configs", "list"),
        ("log-dirs",),
    ):
        # Told at once: nobody waits for as long as they would for an answer.
        assert nowhere.fail("--timeout", "600", *arguments) == said


def test_wrong_usage_is_code_2(nowhere: Command) -> None:
    assert nowhere.fail("topics", "lst", code=2).endswith("did you mean list?")
    assert "Missing argument" in nowhere.fail("produce", code=2)
    assert "no place in a topic" in nowhere.fail("consume", "t", "--from", "x", code=2)
    assert "nothing to alter" in nowhere.fail("topics", "alter", "t", code=2)
    assert "HOST:PORT" in nowhere.fail("-b", "h:x", "topics", "list", code=2)
    assert "--tombstone needs" in nowhere.fail("produce", "t", "--tombstone", code=2)


def test_the_nearest_address_wins(nowhere: Command) -> None:
    assert "127.0.0.1:2;" in nowhere.fail("-b", "127.0.0.1:2", "topics", "list")
    both = nowhere.fail("-b", "127.0.0.1:2", "topics", "list", "-b", "127.0.0.1:3")
    assert "127.0.0.1:3;" in both


def test_version_and_help(nowhere: Command) -> None:
    assert nowhere.run("--version").lines[0].startswith("penstock ")
    listed = nowhere.run("--help").out.decode()
    for name in ("start", "topics", "produce", "consume", "configs", "log-dirs"):
        assert f"\n  {name} " in listed
    assert "--listen HOST:PORT" in nowhere.run("start", "--help").out.decode()
