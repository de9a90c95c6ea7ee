"""A topic that takes no more records, and the moment from which that is sure.

`max.message.bytes` is set so low that no record fits: a producer that was forgotten is refused with
an error and never acknowledged, whatever its acks. Markers of transactions still fit. Records of
some ten bytes do too; that the topic's ends stand still is looked at as well.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

from penstock.cli.failure import Failure
from penstock.cli.hot.key_tally import sample_records
from penstock.cli.interrupt import check_interrupt
from penstock.cli.leader_call import (
    EARLIEST,
    LATEST,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    leaders_of,
    list_offsets,
    read_metadata,
)
from penstock.cli.operator.link import Link
from penstock.cli.operator.setting import (
    Change,
    alter_settings,
    own_topic_settings,
    topic_settings_at,
)
from penstock.cli.operator.state import TopicPartition

LIMIT: Final = "max.message.bytes"
_CLOSED: Final = "80"
"""A marker has 78 bytes."""
_STILL_S: Final = 2.0
_LOOK_S: Final = 0.25
_PATIENCE_S: Final = 90.0
"""Longer than a transaction lasts by default."""


def own_limit(link: Link, topic: str) -> str | None:
    return own_topic_settings(link, [topic], LIMIT).get(topic)


def close_topic(link: Link, topic: str) -> None:
    alter_settings(link, [Change(topic, LIMIT, _CLOSED)])


def open_topic(link: Link, topic: str, limit: str | None) -> None:
    alter_settings(link, [Change(topic, LIMIT, limit)])


def is_closed(link: Link, topic: str) -> bool:
    """On every broker: each learns of it by itself."""
    return all(
        topic_settings_at(link, each.host, each.port, [topic], LIMIT).get(topic) == _CLOSED
        for each in read_metadata(link, [topic]).brokers
    )


def ends_of(link: Link, topic: str, isolation: int = READ_UNCOMMITTED) -> dict[int, int]:
    return _offsets(link, topic, LATEST, isolation)


def starts_of(link: Link, topic: str) -> dict[int, int]:
    return _offsets(link, topic, EARLIEST, READ_UNCOMMITTED)


def _offsets(link: Link, topic: str, which: int, isolation: int) -> dict[int, int]:
    """Of every partition; one that has just been made may have no leader yet."""
    deadline_s = time.monotonic() + link.timeout_s
    while True:
        metadata = read_metadata(link, [topic])
        leaders = leaders_of(metadata)
        found = list_offsets(link, leaders, leaders.places(topic), which, isolation)
        count = sum(len(each.partitions) for each in metadata.topics)
        if count and len(found) == count:
            return {partition: offset for (_, partition), offset in found.items()}
        if time.monotonic() > deadline_s:
            raise Failure(f"not every partition of {topic} has a leader; see `penstock doctor`")
        check_interrupt()
        time.sleep(_LOOK_S)


def wait_still(link: Link, topic: str) -> Mapping[int, int]:
    """Where a closed topic ends: for two seconds nothing came, and no transaction is open."""
    deadline_s = time.monotonic() + _PATIENCE_S
    ends, since_s, is_open = ends_of(link, topic), time.monotonic(), False
    while time.monotonic() < since_s + _STILL_S:
        check_interrupt()
        time.sleep(_LOOK_S)
        now = ends_of(link, topic)
        is_open = ends_of(link, topic, READ_COMMITTED) != now
        if now != ends or is_open or not is_closed(link, topic):
            ends, since_s = now, time.monotonic()
        if time.monotonic() > deadline_s:
            what = "a transaction is open on" if is_open else "records still come to"
            raise Failure(
                f"{what} {topic}; stop its producers, then run the same again, or go back with "
                "--back"
            )
    return ends


def wait_committed(link: Link, topic: str) -> Mapping[int, int]:
    """Where a topic ends, once every transaction on it has its marker."""
    deadline_s = time.monotonic() + _PATIENCE_S
    while (ends := ends_of(link, topic)) != ends_of(link, topic, READ_COMMITTED):
        if time.monotonic() > deadline_s:
            raise Failure(f"a transaction is open on {topic}: somebody else writes there")
        time.sleep(_LOOK_S)
    return ends


def records_behind(link: Link, topic: str, cut: Mapping[int, int]) -> int:
    """Records behind these offsets; markers of transactions do not count."""
    leaders = leaders_of(read_metadata(link, [topic]))
    found = 0
    for partition, end in ends_of(link, topic).items():
        at = cut.get(partition, 0)
        if end > at:
            place = TopicPartition(topic, partition)
            records = sample_records(link, leaders, place, end, end - at)
            found += sum(each.offset >= at for each in records)
    return found
