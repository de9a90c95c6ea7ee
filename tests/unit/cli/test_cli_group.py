"""`penstock consume --group`: what was printed is committed, and nothing else."""

from __future__ import annotations

import re
import signal
import subprocess

from confluent_kafka import Consumer, TopicPartition

from tests.unit.cli.conftest import PENSTOCK, Command


def committed(command: Command, group: str, topic: str) -> int:
    consumer = Consumer({"bootstrap.servers": command.servers, "group.id": group})
    try:
        (found,) = consumer.committed([TopicPartition(topic, 0)], timeout=60)
        return int(found.offset)
    finally:
        consumer.close()


def read(command: Command, topic: str, *options: str) -> tuple[bytes, str]:
    answer = command.try_run("consume", topic, "--group", f"g-{topic}", *options)
    assert answer.code == 0, answer
    return answer.out, answer.err


def test_a_group_goes_on_where_it_stands(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    command.run("produce", topic, stdin=b"1\n2\n3\n")
    said = f"group g-{topic}: committed"
    assert read(command, topic, "-n", "2") == (b"1\n2\n", f"{said} 2 records\n")
    assert committed(command, f"g-{topic}", topic) == 2
    assert read(command, topic) == (b"3\n", f"{said} 1 record\n")
    assert read(command, topic) == (b"", f"{said} 0 records\n")
    command.run("produce", topic, "-v", "4")
    assert read(command, topic, "--template", "%o=%s;") == (b"3=4;", f"{said} 1 record\n")


def test_interrupted_it_commits_and_leaves(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    command.run("produce", topic, stdin=b"1\n2\n")
    arguments = [PENSTOCK, "consume", topic, "--group", f"g-{topic}", "--follow"]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=command.environment()
    ) as reader:
        assert reader.stdout is not None
        assert reader.stderr is not None
        assert [reader.stdout.readline() for _ in range(2)] == [b"1\n", b"2\n"]
        reader.send_signal(signal.SIGINT)
        assert reader.wait(30) == 130
        said = reader.stderr.read().decode()
    # Ctrl-C may fall between the printing of the last record and the note of it.
    found = re.fullmatch(rf"group g-{topic}: committed ([12]) records?\n", said)
    assert found is not None, said
    assert committed(command, f"g-{topic}", topic) == int(found[1])
    # It left: the next member does not wait for its session to end.
    assert read(command, topic)[0] == b"1\n2\n"[2 * int(found[1]) :]


def test_what_could_not_be_written_is_not_committed(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    command.run("produce", topic, stdin=b"1\n2\n")
    with open("/dev/full", "wb") as full:
        failed = subprocess.run(
            [PENSTOCK, "consume", topic, "--group", f"g-{topic}"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=command.environment(),
            check=False,
        )
    assert failed.returncode == 1
    assert failed.stderr == b"penstock: cannot read or write: No space left on device\n"
    assert read(command, topic)[0] == b"1\n2\n"


def test_from_end_is_for_a_new_group(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, "-p", "1")
    command.run("produce", topic, "-v", "1")
    assert read(command, topic, "--from", "end")[0] == b""


def test_what_does_not_go_with_a_group(nowhere: Command) -> None:
    for options in (("-p", "0"), ("--until", "end"), ("--from", "3")):
        assert "with --group" in nowhere.fail("consume", "t", "-g", "g", *options, code=2)
    assert "empty" in nowhere.fail("consume", "t", "-g", "", code=2)


def test_a_topic_that_is_not_there(command: Command, topic: str) -> None:
    assert "there is no topic" in command.fail("consume", topic, "-g", "g")
