"""Apache Kafka for as long as a test lasts: a node that starts in a third of the time.

It compiles little, collects simply, and maps its classes from an archive that a first node leaves
behind. Nothing that is measured runs this way.
"""

from __future__ import annotations

import fcntl
import functools
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.apache_kafka import BRIEF_JVM, CACHE, ApacheKafka, ensure_jars
from tools.kafka_cluster import KafkaCluster

HEAP = ("-Xmx512m",)
_SILENT = "-Xlog:disable"


def brief_kafka(
    data_dir: Path, settings: Mapping[str, str] | None = None, **more: Any
) -> ApacheKafka:
    return ApacheKafka(data_dir, settings, heap=HEAP, jvm=brief_jvm(), **more)


def brief_cluster(folder: Path, nodes: int = 3, **more: Any) -> KafkaCluster:
    return KafkaCluster(folder, nodes, jvm=brief_jvm(), **more)


@functools.cache
def brief_jvm() -> tuple[str, ...]:
    ensure_jars()
    archive = CACHE / "classes" / "broker.jsa"
    archive.parent.mkdir(parents=True, exist_ok=True)
    with open(archive.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not archive.exists():
            _record(archive)
    return (
        (*BRIEF_JVM, f"-XX:SharedArchiveFile={archive}", _SILENT) if archive.exists() else BRIEF_JVM
    )


def _record(archive: Path) -> None:
    written = archive.with_suffix(".new")
    jvm = (*BRIEF_JVM, f"-XX:ArchiveClassesAtExit={written}", _SILENT)
    with tempfile.TemporaryDirectory() as folder:
        node = ApacheKafka(Path(folder) / "data", heap=HEAP, jvm=jvm)
        node.start()
        node.stop()
    # Where Java could not write it, nodes start without.
    if written.exists():
        written.replace(archive)
