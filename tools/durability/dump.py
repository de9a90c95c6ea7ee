"""Apache Kafka's own DumpLogSegments as a judge of the files that a broker left behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tools.apache_kafka import missing_prerequisite, run_tool
from tools.durability.checker import Violation

_BAD = re.compile(
    r"mismatch|corrupt|isvalid: false|exception|out of order|error|invalid", re.IGNORECASE
)
_SUFFIXES = (".log", ".index", ".timeindex", ".txnindex")
_FILES_AT_ONCE = 60


def available() -> str | None:
    """Why the tool cannot run here, or None when it can."""
    return missing_prerequisite()


def check_directory(partition: Path) -> list[Violation]:
    """Judge one partition's directory, of a broker that has shut down cleanly."""
    files = [str(file) for file in sorted(partition.iterdir()) if file.suffix in _SUFFIXES]
    found: list[Violation] = []
    for start in range(0, len(files), _FILES_AT_ONCE):
        some = ",".join(files[start : start + _FILES_AT_ONCE])
        for option in ("--index-sanity-check", "--deep-iteration"):
            answer = run_tool("kafka-dump-log", ["--files", some, option], timeout=300)
            said = (answer.stdout + answer.stderr).splitlines()
            found += [Violation("index", partition.name, line) for line in bad_lines(said)]
            if answer.returncode:
                detail = f"{option} ended with code {answer.returncode}"
                found.append(Violation("index", partition.name, detail))
    return found


def bad_lines(output: list[str]) -> Iterator[str]:
    for line in output:
        # Our own payloads and keys never stand in the output, so any such word is the tool's.
        if _BAD.search(line) and not line.startswith("Dumping "):
            yield line.strip()[:300]
