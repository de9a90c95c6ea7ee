"""Lines of an audit log, from the cluster's topic or from a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from penstock.cli.audit import Line, parse_line
from penstock.cli.cluster import Cluster, unknown_topic
from penstock.cli.failure import Failure
from penstock.cli.position import Anchor, Position
from penstock.model.internal_topic import AUDIT_TOPIC


@contextmanager
def audit_lines(
    cluster: Cluster,
    file: Path | None,
    first: Position,
    last: Position | None = None,
    *,
    follow: bool = False,
) -> Iterator[Iterable[Line]]:
    if file is None:
        with _topic_lines(cluster, first, last, follow=follow) as found:
            yield found
        return
    try:
        with file.open("rb") as opened:
            lines = (parse_line(each) for each in opened)
            yield (line for line in lines if line is not None and _within(line, first, last))
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}") from error


def _within(line: Line, first: Position, last: Position | None) -> bool:
    from datetime import datetime

    at_ms = datetime.fromisoformat(line["time"]).timestamp() * 1000
    if first.anchor is Anchor.time and at_ms < first.number:
        return False
    return last is None or last.anchor is not Anchor.time or at_ms < last.number


@contextmanager
def _topic_lines(
    cluster: Cluster, first: Position, last: Position | None, *, follow: bool
) -> Iterator[Iterable[Line]]:
    from penstock.cli.reader import TopicReader

    try:
        reader = TopicReader(cluster, AUDIT_TOPIC, ())
    except Failure as failure:
        if str(failure) != str(unknown_topic(AUDIT_TOPIC)):
            raise
        raise Failure(
            "there is no audit log here: start the brokers with --set "
            "penstock.audit.topic.enable=true; its first lines come a second after that"
        ) from failure
    with reader:
        reader.seek(first, last, follow=follow)
        yield _parsed(reader.read())


def _parsed(records: Iterable[Any]) -> Iterator[Line]:
    for record in records:
        line = None if record is None else parse_line(record.value() or b"")
        if line is not None:
            yield line
