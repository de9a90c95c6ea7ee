"""Apache Kafka's DumpLogSegments finds nothing wrong in any file that Penstock wrote."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.interop.load_kit import CODECS, write_everything
from tools.tool_host import shared_tool_host

pytestmark = [pytest.mark.java, pytest.mark.timeout(300)]

SUFFIXES = {".log", ".index", ".timeindex", ".snapshot", ".txnindex", ".checkpoint"}
FILES_AT_ONCE = 150
FOLLOWED = re.compile(r"^\s*(-?\d+) is followed by (\d+)\s*$")
BAD = re.compile(
    r"mismatch|corrupt|isvalid: false|exception|out of order|error|invalid|non-consecutive"
    r"|is followed by|could not|unable",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Written under load, by a broker that was killed twice and then stopped."""
    from penstock.testing.broker import Broker

    home = tmp_path_factory.mktemp("dumped")
    settings = {
        "offsets.topic.num.partitions": 4,
        "transaction.state.log.num.partitions": 4,
        "log.cleaner.backoff.ms": 100,
        "log.retention.check.interval.ms": 200,
    }
    broker = Broker(home / "data", settings)
    with broker:
        write_everything(broker.bootstrap_servers)
        for codec in CODECS:
            broker.create_topic(f"rolls-{codec}", 1, {"internal.segment.bytes": 20_000})
            compacting = {
                "internal.segment.bytes": 20_000,
                "cleanup.policy": "compact",
                "min.cleanable.dirty.ratio": 0.01,
                "compression.type": "producer" if codec == "none" else codec,
            }
            broker.create_topic(f"compacts-{codec}", 1, compacting)
        broker.create_topic("short", 1, {"internal.segment.bytes": 5000, "retention.bytes": 20_000})
        for _ in range(2):
            _kill_under_load(broker)
        _load(broker.bootstrap_servers, threading.Event(), 400)
    yield home / "data"


def _kill_under_load(broker: Any) -> None:
    stopping = threading.Event()
    loader = threading.Thread(target=_load, args=(broker.bootstrap_servers, stopping, 100_000))
    loader.start()
    stopping.wait(1.5)
    broker.kill()
    stopping.set()
    loader.join(30)
    broker.start()


def _load(servers: str, stopping: threading.Event, count: int) -> None:
    chance = random.Random(3)
    producers = {
        codec: Producer(
            {
                "bootstrap.servers": servers,
                "compression.type": codec,
                "enable.idempotence": True,
                "linger.ms": 2,
                "message.timeout.ms": 60_000,
                "log_level": 0,
            }
        )
        for codec in CODECS
    }
    for number in range(count):
        if stopping.is_set():
            break
        for codec, producer in producers.items():
            value = chance.randbytes(200) + b"text " * 20
            for topic in (f"rolls-{codec}", f"compacts-{codec}", "short"):
                producer.produce(topic, key=b"%d" % chance.randrange(50), value=value)
            producer.poll(0)
        if number % 20 == 19:
            stopping.wait(0.02)
    for producer in producers.values():
        if stopping.is_set():
            producer.purge()
        producer.flush(60)


def files_of(directory: Path, names: Callable[[str], bool]) -> list[str]:
    return sorted(
        str(file)
        for partition in directory.iterdir()
        if partition.is_dir() and names(partition.name)
        for file in partition.iterdir()
        if file.suffix in SUFFIXES and file.stat().st_size
    )


def dump(files: list[str], *options: str) -> list[str]:
    """What the tool says about the files that sounds like a complaint."""
    assert files
    complaints: list[str] = []
    for start in range(0, len(files), FILES_AT_ONCE):
        some = ",".join(files[start : start + FILES_AT_ONCE])
        answer = shared_tool_host().run("kafka-dump-log", ["--files", some, *options], timeout=200)
        assert answer.returncode == 0, answer.stderr
        complaints += complaints_in(answer.stdout.splitlines() + answer.stderr.splitlines())
    return complaints


def complaints_in(lines: list[str]) -> list[str]:
    found: list[str] = []
    heading = ""
    for line in lines:
        if line.startswith("Non-consecutive offsets in "):
            heading = line
            continue
        followed = FOLLOWED.match(line)
        if followed is not None and _is_expected(heading, *map(int, followed.groups())):
            continue
        if BAD.search(line) and not line.startswith("Dumping "):
            found += [heading, line]
    return found


def _is_expected(heading: str, before: int, after: int) -> bool:
    """The tool compares a file's first offset with the -1 it starts from; compaction leaves gaps,
    never a step back."""
    compacted = "/compacts-" in heading or "/keyed-" in heading
    return before == -1 or (compacted and before < after)


def is_data(name: str) -> bool:
    return not name.startswith("__") and not name.endswith(("-delete", "-stray"))


def test_the_directory_is_worth_a_look(directory: Path) -> None:
    for codec in CODECS:
        assert len(list((directory / f"rolls-{codec}-0").glob("*.log"))) > 3
    first = min((directory / "compacts-none-0").glob("*.log"))
    assert len(list((directory / "compacts-none-0").glob("*.log"))) > 1
    assert first.stat().st_size > 0
    assert min((directory / "short-0").glob("*.log")).stem.strip("0")


@pytest.mark.parametrize("option", ["--index-sanity-check", "--deep-iteration"])
def test_records_and_indexes(directory: Path, option: str) -> None:
    assert dump(files_of(directory, is_data), option) == []


def test_the_metadata_log(directory: Path) -> None:
    files = files_of(directory, lambda name: name == "__cluster_metadata-0")
    assert dump(files, "--cluster-metadata-decoder") == []
    assert (
        dump([each for each in files if not each.endswith("checkpoint")], "--deep-iteration") == []
    )


def test_committed_offsets(directory: Path) -> None:
    files = files_of(directory, lambda name: name.startswith("__consumer_offsets-"))
    logs = [each for each in files if each.endswith(".log")]
    assert dump(logs, "--offsets-decoder") == []
    assert dump(files, "--index-sanity-check") == []
    answer = shared_tool_host().run(
        "kafka-dump-log", ["--files", ",".join(logs), "--offsets-decoder"]
    )
    assert '"eleven"' in answer.stdout or "eleven" in answer.stdout


def test_the_state_of_transactions(directory: Path) -> None:
    files = files_of(directory, lambda name: name.startswith("__transaction_state-"))
    logs = [each for each in files if each.endswith(".log")]
    assert dump(logs, "--transaction-log-decoder") == []
    assert dump(files, "--index-sanity-check") == []
