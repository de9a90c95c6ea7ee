"""Histories as files, one JSON object a line, so that many processes can tell one together.

A line is with the operating system before `note` returns: killing the process takes nothing back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any

from penstock.model.id import TopicPartition
from penstock.testing.history_event import (
    Assign,
    Begin,
    Commit,
    End,
    Event,
    Outcome,
    Poll,
    Produce,
    Seen,
)

_KINDS: dict[str, type[Event]] = {
    kind.__name__.lower(): kind for kind in (Produce, Begin, End, Assign, Poll, Commit)
}


class Recorder:
    def __init__(self, path: Path) -> None:
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def note(self, *events: Event) -> None:
        self._file.write(b"".join(encode(event) for event in events))

    def close(self) -> None:
        self._file.close()


def load(paths: Iterable[Path]) -> Iterator[Event]:
    """Each file is one process or more; the order of files does not matter."""
    for path in paths:
        # Only whole lines: the last one may have been cut by a kill.
        for line in path.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):
                yield decode(line)


def encode(event: Event) -> bytes:
    words: dict[str, Any] = {"event": type(event).__name__.lower()}
    for entry in fields(event):
        value = getattr(event, entry.name)
        words[entry.name] = value.value if isinstance(value, Enum) else value
    return json.dumps(words, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Event:
    words = json.loads(line)
    kind = _KINDS[words.pop("event")]
    if "partition" in words:
        words["partition"] = TopicPartition(*words["partition"])
    if "outcome" in words:
        words["outcome"] = Outcome(words["outcome"])
    if "records" in words:
        words["records"] = tuple(Seen(*one) for one in words["records"])
    return kind(**words)
