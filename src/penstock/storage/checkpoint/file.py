"""The small text files in which Kafka remembers offsets between two starts.

All share one shape: a version line, a count line, one line per entry. They are replaced whole
and atomically; a damaged one is DamagedFile to the reader, who decides what can do without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.model.id import TopicId, TopicPartition, id_from_str, id_to_str
from penstock.storage.damage import DamagedFile, read_small
from penstock.storage.disk import Disk, replace_file

_VERSION = "0"
_OFFSET_MAX = (1 << 63) - 1


def write_lines(disk: Disk, path: str, lines: Iterable[str], *, sync_name: bool = True) -> None:
    entries = list(lines)
    text = "\n".join([_VERSION, str(len(entries)), *entries]) + "\n"
    replace_file(disk, path, text.encode(), sync_name=sync_name)


def read_lines(disk: Disk, path: str) -> list[str]:
    """No file: nothing was remembered."""
    try:
        text = read_small(disk, path).decode("ascii")
    except FileNotFoundError:
        return []
    except UnicodeDecodeError as error:
        raise DamagedFile(f"{path} is no text: {error}") from error
    version, *rest = text.split("\n") if text else [""]
    if version.strip() != _VERSION or not rest or not _is_number(rest[0]):
        raise DamagedFile(f"{path} does not begin as a checkpoint does")
    entries = [line for line in rest[1:] if line.strip()]
    if int(rest[0]) != len(entries):
        raise DamagedFile(f"{path} announces {int(rest[0])} entries and has {len(entries)}")
    return entries


def write_offsets(disk: Disk, path: str, offsets: Mapping[TopicPartition, int]) -> None:
    """`topic partition offset`, as in recovery-point-offset-checkpoint and its sisters."""
    write_lines(disk, path, (f"{tp.topic} {tp.partition} {at}" for tp, at in offsets.items()))


def read_offsets(disk: Disk, path: str) -> dict[TopicPartition, int]:
    offsets: dict[TopicPartition, int] = {}
    for line in read_lines(disk, path):
        words = line.split()
        if len(words) != 3 or not _is_number(words[1]) or not _is_number(words[2]):
            raise DamagedFile(f"{path} has the line {line[:80]!r}")
        offsets[TopicPartition(words[0], int(words[1]))] = int(words[2])
    return offsets


def _is_number(word: str) -> bool:
    """Not negative, and not beyond what Kafka can count."""
    word = word.strip()
    return word.isdecimal() and len(word) < 20 and int(word) <= _OFFSET_MAX


def write_topic_id(disk: Disk, path: str, topic_id: TopicId) -> None:
    text = f"version: 0\ntopic_id: {id_to_str(topic_id)}"
    replace_file(disk, path, text.encode(), sync=False)


def read_topic_id(disk: Disk, path: str) -> TopicId | None:
    try:
        text = read_small(disk, path).decode("ascii")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise DamagedFile(f"{path} is no text: {error}") from error
    if not text:
        # Created just before a crash: then nothing was ever synced beside it.
        return None
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    try:
        if fields.get("version") == _VERSION:
            return id_from_str(fields["topic_id"])
    except (KeyError, ValueError):
        pass
    raise DamagedFile(f"{path} names no topic id")
