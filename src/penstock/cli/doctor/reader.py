"""Looks at a cluster over Kafka's protocol alone, and the time between two of them."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from penstock.cli.doctor.diagnosis import standing, surging
from penstock.cli.doctor.facts import Controller, Facts, Glance, LogDirSpace, Look
from penstock.cli.doctor.head import read_odd
from penstock.cli.doctor.past import Past
from penstock.cli.doctor.tail import read_tails
from penstock.cli.failure import Failure
from penstock.cli.group.reader import ClusterReader
from penstock.cli.group.sla import read_slas
from penstock.cli.group.state import Group, GroupLag
from penstock.cli.history.reader import PastReader
from penstock.cli.interrupt import check_interrupt
from penstock.cli.operator.link import Link, error_name
from penstock.cli.operator.reader import read_quorum, read_state, read_state_at
from penstock.cli.operator.setting import topic_settings
from penstock.cli.operator.state import BrokerNode, ClusterState
from penstock.model.figures import HOUR_MS, HOURS, MINUTES
from penstock.protocol.messages.describe_log_dirs import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)

GLANCE_S: Final = 1.0
GLANCES_MIN: Final = 4
TAILS_MAX: Final = 5
HEADS_MAX: Final = 10
MINUTES_MS: Final = 3 * HOUR_MS
HOURS_MS: Final = 14 * 24 * HOUR_MS
"""How far back intervals and hours are read."""
LATE_MS: Final = 120_000
_NOT_TO_BE_ASKED: Final = ("AUTHORIZATION", "UNSUPPORTED", "does not offer", "too old")
_REBALANCES: Final = re.compile(
    r'^penstock_group_rebalances_total\{group="((?:[^"\\]|\\.)*)"\} (\S+)$', re.MULTILINE
)
Counts = Mapping[str, int]


class Observer:
    """Takes facts; the last look of one round is the first of the next."""

    def __init__(
        self, link: Link, groups: Sequence[str], read_metrics: Callable[[], str] | None = None
    ) -> None:
        self._link = link
        self._groups = groups
        self._read_metrics = read_metrics
        self._last: tuple[Look, Counts] | None = None

    def facts(self, seconds: float) -> Facts:
        before, counted = self._last or self._look(times=False)
        until = time.monotonic() + seconds
        past = read_past(self._link)
        glances = self._wait(before, until, seconds)
        after, counts = self._last = self._look()
        rebalances = {
            name: count - counted[name] for name, count in counts.items() if name in counted
        }
        past = None if past is None else with_news(self._link, past)
        facts = Facts(before, after, read_slas(self._link), glances, rebalances, past)
        written = dict(islice(surging(facts).items(), TAILS_MAX))
        spots = dict(islice(standing(facts).items(), HEADS_MAX))
        return replace(
            facts,
            tails=read_tails(self._link, written, after.now_ms),
            odd=read_odd(self._link, spots),
        )

    def _look(self, *, times: bool = True) -> tuple[Look, Counts]:
        """Times of records are asked for where findings are made of it: the first look is only to
        compare with."""
        with ClusterReader(self._link) as reader:
            lags, unread = _lags(reader, self._chosen(reader), times=times)
            gaps = tuple(dict.fromkeys(reader.gaps))
            state = _state(self._link, reader)
        dirs, silent = _dirs(self._link, state)
        look = Look(
            int(time.time() * 1000),
            state,
            _controller(self._link),
            lags,
            _min_isr(self._link, {each.topic for each in state.partitions}),
            dirs,
            silent,
            unread,
            gaps,
        )
        return look, count_rebalances(self._read_metrics() if self._read_metrics else "")

    def _chosen(self, reader: ClusterReader) -> list[Group]:
        listed = reader.listed()
        missing = set(self._groups) - {each.name for each in listed}
        if missing:
            # It waits for groups that move, and says it where there is none.
            return [reader.named(each) for each in dict.fromkeys(self._groups)]
        return [each for each in listed if not self._groups or each.name in self._groups]

    def _wait(self, look: Look, until: float, seconds: float) -> dict[str, tuple[Glance, ...]]:
        """Glances at the groups that are behind, until the time is over."""
        groups = [each.group for each in look.lags if each.records]
        seen = {each.name: [_glance(each)] for each in groups}
        pause_s = min(GLANCE_S, seconds / GLANCES_MIN)
        with ClusterReader(self._link) as reader:
            while (left := until - time.monotonic()) > 0:
                check_interrupt()
                time.sleep(min(pause_s, left))
                for each in _described(reader, groups):
                    seen[each.name].append(_glance(each))
        return {name: tuple(some) for name, some in seen.items()}


def read_past(link: Link) -> Past | None:
    """None where it is not kept, or cannot be read."""
    now_ms = int(time.time() * 1000)
    try:
        reader = PastReader(link)
        if not reader.is_kept:
            return None
        minutes = reader.read(MINUTES, now_ms - MINUTES_MS)
        return Past(tuple(minutes), tuple(reader.read(HOURS, now_ms - HOURS_MS)))
    except Failure:
        return None


def with_news(link: Link, past: Past) -> Past:
    """And what was written down since it was read; brokers do not do so at the same moment."""
    known = {(each.broker, each.until_ms) for each in past.minutes}
    newest = max((each.until_ms for each in past.minutes), default=0)
    try:
        found = PastReader(link).read(MINUTES, newest - LATE_MS)
    except Failure:
        return past
    news = [each for each in found if (each.broker, each.until_ms) not in known]
    return replace(past, minutes=(*past.minutes, *news))


def _described(reader: ClusterReader, groups: list[Group]) -> list[Group]:
    try:
        return reader.described(groups)
    except Failure:
        # A coordinator has just gone: the next look says so.
        return []


def _lags(
    reader: ClusterReader, groups: list[Group], *, times: bool
) -> tuple[tuple[GroupLag, ...], tuple[str, ...]]:
    """And the groups whose coordinator does not answer."""
    found: list[GroupLag] = []
    unread: list[str] = []
    by_coordinator: dict[int, list[Group]] = defaultdict(list)
    for each in groups:
        by_coordinator[each.coordinator].append(each)
    for theirs in by_coordinator.values():
        try:
            found += reader.lags(reader.described(theirs), times=times, starts=False)
        except Failure:
            unread += [each.name for each in theirs]
    return tuple(found), tuple(unread)


def _glance(group: Group) -> Glance:
    return Glance(group.state, frozenset(each.member_id for each in group.members))


def _state(link: Link, reader: ClusterReader) -> ClusterState:
    try:
        return read_state(link)
    except Failure:
        # Without a controller nobody knows the moves; each broker still knows the partitions.
        pass
    for each in reader.metadata.brokers:
        try:
            known = read_state_at(link, each.host, each.port)
        except Failure:
            continue
        gone = {one for part in known.partitions.values() for one in part.replicas}
        down = {one: BrokerNode(one, fenced=True) for one in gone - set(known.brokers)}
        return ClusterState({**known.brokers, **down}, known.partitions)
    raise link.unreachable()


def _controller(link: Link) -> Controller:
    try:
        quorum = read_quorum(link)
    except Failure as failure:
        is_known = not any(each in str(failure) for each in _NOT_TO_BE_ASKED)
        return Controller(is_known, None, _why(link, failure))
    seen = {
        each.id: each.last_fetch_ms
        for each in (*quorum.voters, *quorum.observers)
        if each.last_fetch_ms is not None
    }
    return Controller(True, quorum.leader if quorum.leader >= 0 else None, "", seen)


def _why(link: Link, failure: Failure) -> str:
    """Brokers have answered other questions: that nobody answers this one is said otherwise."""
    if str(failure) == str(link.unreachable()):
        return "brokers answer, but what they have to ask the controller does not come back"
    return str(failure)


def _min_isr(link: Link, topics: set[str]) -> dict[str, int]:
    found = topic_settings(link, sorted(topics), "min.insync.replicas")
    return {topic: int(value) for topic, value in found.items() if value.isdecimal()}


def _dirs(link: Link, state: ClusterState) -> tuple[tuple[LogDirSpace, ...], tuple[int, ...]]:
    """And the brokers that did not answer."""
    found: list[LogDirSpace] = []
    silent: list[int] = []
    for broker in state.brokers.values():
        if broker.fenced:
            continue
        # No partitions are named: only the directories themselves are told.
        request = DescribeLogDirsRequest(topics=[])
        try:
            answer = link.call_at(broker.host, broker.port, request, DescribeLogDirsResponse)
        except Failure:
            silent.append(broker.id)
            continue
        for each in answer.results:
            error = error_name(each.error_code) if each.error_code else None
            found.append(
                LogDirSpace(
                    broker.id,
                    each.log_dir,
                    error,
                    _known(each.total_bytes),
                    _known(each.usable_bytes),
                )
            )
    return tuple(found), tuple(silent)


def _known(count: int) -> int | None:
    return None if count < 0 else count


def count_rebalances(page: str) -> dict[str, int]:
    return {name: int(float(count)) for name, count in _REBALANCES.findall(page)}
