"""One look at the groups of a cluster, over Kafka's protocol alone. Prints and changes nothing.

Each broker is asked for the groups it coordinates, each leader for the ends of its logs; times are
read from the log where a group is behind. A connection to each broker is kept until the look ends.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeVar

from penstock.cli.failure import Failure
from penstock.cli.group.description import (
    classic_group,
    consumer_group,
    share_group,
    streams_group,
)
from penstock.cli.group.record_time import read_times
from penstock.cli.group.share_progress import Progress, read_share_progress
from penstock.cli.group.state import Group, GroupLag, PartitionLag, Place
from penstock.cli.interrupt import check_interrupt
from penstock.cli.leader_call import (
    EARLIEST,
    LATEST,
    Leaders,
    leaders_of,
    list_offsets,
    read_metadata,
)
from penstock.cli.operator.link import Link, check
from penstock.cli.output import plural
from penstock.cli.wire_call import BrokerConnection, Unreachable
from penstock.model.error import ErrorCode
from penstock.protocol.messages import (
    consumer_group_describe,
    describe_groups,
    share_group_describe,
    streams_group_describe,
)
from penstock.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from penstock.protocol.messages.describe_groups import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from penstock.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from penstock.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from penstock.protocol.messages.metadata import MetadataResponse
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)
from penstock.protocol.messages.share_group_describe import (
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)
from penstock.protocol.messages.streams_group_describe import (
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)

T = TypeVar("T")
D = TypeVar(
    "D",
    describe_groups.DescribedGroup,
    consumer_group_describe.DescribedGroup,
    share_group_describe.DescribedGroup,
    streams_group_describe.DescribedGroup,
)
Offsets = Mapping[Place, int]
OFFSET_FETCH_VERSION: Final = 9
"""The last that calls topics by name."""
GROUPS_AT_ONCE: Final = 200
KINDS: Final = ("", "consumer", "share", "streams")
"""Protocol types of consumers, of share consumers and of Kafka Streams; groups of Kafka Connect and
others have no offsets here. A group that only ever had offsets has none."""
OFFSETS_TOPIC: Final = "__consumer_offsets"
_RETRY_S: Final = 0.2
_LOADING: Final = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
)


class ClusterReader:
    """To be closed. `metadata` is of when it was made."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self._connections: dict[int, BrokerConnection] = {}
        self.gaps: list[str] = []
        """Why groups may be missing in what was `listed`, or `described`, last."""
        self._begin()

    def _begin(self) -> None:
        self.metadata: MetadataResponse = read_metadata(self.link)
        self.leaders: Leaders = leaders_of(self.metadata)
        self._addresses = {each.node_id: (each.host, each.port) for each in self.metadata.brokers}

    def __enter__(self) -> ClusterReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        for each in self._connections.values():
            each.close()
        self._connections.clear()

    def connection(self, broker: int) -> BrokerConnection:
        kept = self._connections.get(broker)
        if kept is None:
            if broker not in self._addresses:
                raise Unreachable(f"broker {broker} is down")
            kept = BrokerConnection(self.link.connect, *self._addresses[broker])
            self._connections[broker] = kept
        return kept

    @property
    def topics(self) -> dict[str, int]:
        """Partitions of each."""
        return {each.name or "": len(each.partitions) for each in self.metadata.topics}

    # Groups

    def listed(self, *types: str) -> list[Group]:
        """All of them, or those of these types, by name, without their members. A broker that does
        not answer is left out: its groups have another coordinator soon. `gaps` says so."""
        request = ListGroupsRequest(types_filter=list(types))
        found: dict[str, Group] = {}
        self.gaps = self._without_coordinator()
        for broker in self._addresses:
            try:
                answer = self.connection(broker).call(request, ListGroupsResponse)
            except Unreachable:
                self._connections.pop(broker, None)
                self.gaps.append(f"broker {broker} does not answer")
                continue
            if answer.error_code in _LOADING:
                self.gaps.append(f"broker {broker} is still loading them")
                continue
            check(answer.error_code, what="groups")
            for each in answer.groups:
                if each.protocol_type in KINDS:
                    protocol = (each.group_type or "classic").lower()
                    found[each.group_id] = Group(
                        each.group_id, protocol, each.group_state, broker, is_described=False
                    )
        if not self._connections:
            raise self.link.unreachable()
        return [found[name] for name in sorted(found)]

    def _without_coordinator(self) -> list[str]:
        nobody = sum(topic == OFFSETS_TOPIC for topic, _ in self.leaders.without)
        return [f"{plural(nobody, 'partition')} of {OFFSETS_TOPIC} without a leader"] * bool(nobody)

    def named(self, name: str) -> Group:
        """With its members; Failure where there is none of that name."""
        group = self.find(name)
        if group is None:
            raise Failure(f"there is no group {name}; `penstock groups list` shows those there are")
        return group

    def find(self, name: str) -> Group | None:
        """None where it is certain that there is none: offsets of a group that only moves to
        another coordinator would be set as if it had neither offsets nor members."""
        deadline = time.monotonic() + self.link.timeout_s
        while True:
            group = self._look_for(name)
            if group is not None or not self.gaps:
                return group
            if time.monotonic() > deadline:
                raise Failure(
                    f"whether there is a group {name} cannot be told now: {self.gaps[0]}; try again"
                )
            check_interrupt()
            time.sleep(_RETRY_S)
            self._close()
            self._begin()

    def _look_for(self, name: str) -> Group | None:
        try:
            listed = [each for each in self.listed() if each.name == name]
            found = self.described(listed)
            if not found and not self.gaps and OFFSETS_TOPIC in self.topics:
                self._ask_coordinator(name)
        except Unreachable as error:
            self.gaps.append(str(error))
            return None
        return next(iter(found), None)

    def _ask_coordinator(self, name: str) -> None:
        """A broker that does not know yet that it coordinates a group lists it no more than one
        that never did."""
        request = DescribeGroupsRequest(groups=[name])
        broker = self.coordinator_of(name)
        for each in self.connection(broker).call(request, DescribeGroupsResponse).groups:
            if each.error_code in _LOADING or not (each.error_code or each.group_state == "Dead"):
                self.gaps.append("its coordinator has just changed")

    def described(self, groups: Iterable[Group]) -> list[Group]:
        """With their members; those that are gone meanwhile are left out, and those that have
        another coordinator meanwhile, which `gaps` tells."""
        found: list[Group] = []
        by_kind: dict[tuple[int, str], list[Group]] = defaultdict(list)
        for each in groups:
            by_kind[each.coordinator, each.protocol].append(each)
        for (broker, protocol), theirs in by_kind.items():
            for some in _chunks(theirs):
                names = [each.name for each in some]
                if protocol == "consumer":
                    found += self._describe_consumer(broker, names)
                elif protocol == "classic":
                    found += self._describe_classic(broker, names)
                elif protocol == "streams":
                    found += self._describe_streams(broker, names)
                elif protocol == "share":
                    found += self._describe_share(broker, names)
        return sorted(found, key=lambda each: each.name)

    def _known(self, groups: Iterable[D]) -> Iterator[D]:
        for each in groups:
            if each.error_code in _LOADING:
                self.gaps.append(f"the coordinator of group {each.group_id} has just changed")
            elif not each.error_code:
                yield each

    def _describe_classic(self, broker: int, names: list[str]) -> list[Group]:
        request = DescribeGroupsRequest(groups=names)
        answer = self.connection(broker).call(request, DescribeGroupsResponse)
        return [
            classic_group(each, broker)
            for each in self._known(answer.groups)
            if each.group_state != "Dead"
        ]

    def _describe_consumer(self, broker: int, names: list[str]) -> list[Group]:
        request = ConsumerGroupDescribeRequest(group_ids=names)
        answer = self.connection(broker).call(request, ConsumerGroupDescribeResponse)
        return [consumer_group(each, broker) for each in self._known(answer.groups)]

    def _describe_streams(self, broker: int, names: list[str]) -> list[Group]:
        request = StreamsGroupDescribeRequest(group_ids=names)
        answer = self.connection(broker).call(request, StreamsGroupDescribeResponse)
        return [streams_group(each, broker) for each in self._known(answer.groups)]

    def _describe_share(self, broker: int, names: list[str]) -> list[Group]:
        request = ShareGroupDescribeRequest(group_ids=names)
        answer = self.connection(broker).call(request, ShareGroupDescribeResponse)
        return [share_group(each, broker) for each in self._known(answer.groups)]

    def coordinator_of(self, name: str) -> int:
        """Also of a group that there is not yet."""
        deadline = time.monotonic() + self.link.timeout_s
        while True:
            request = FindCoordinatorRequest(key_type=0, coordinator_keys=[name])
            answer = self.link.call(request, FindCoordinatorResponse)
            (found,) = answer.coordinators
            if found.error_code not in _LOADING or time.monotonic() > deadline:
                check(found.error_code, found.error_message, f"group {name}")
                return found.node_id
            time.sleep(_RETRY_S)

    # Offsets

    def committed(self, groups: Iterable[Group]) -> dict[str, Offsets]:
        """Of share groups, the first record of each partition that is not done with."""
        return {
            name: {place: each.offset for place, each in places.items()}
            for name, places in self._progress(groups).items()
        }

    def _progress(self, groups: Iterable[Group]) -> dict[str, dict[Place, Progress]]:
        found: dict[str, dict[Place, Progress]] = {}
        by_kind: dict[tuple[int, bool], list[str]] = defaultdict(list)
        for each in groups:
            by_kind[each.coordinator, each.is_share].append(each.name)
        for (broker, is_share), names in by_kind.items():
            for some in _chunks(names):
                if is_share:
                    found.update(read_share_progress(self.connection(broker), some))
                else:
                    found.update(self._committed_at(broker, some))
        return found

    def _committed_at(
        self, broker: int, names: list[str]
    ) -> Iterator[tuple[str, dict[Place, Progress]]]:
        request = OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup(group_id=name, topics=None) for name in names]
        )
        connection = self.connection(broker)
        answer = connection.call(request, OffsetFetchResponse, OFFSET_FETCH_VERSION)
        for group in answer.groups:
            check(group.error_code, what=f"group {group.group_id}")
            yield (
                group.group_id,
                {
                    (topic.name, each.partition_index): Progress(each.committed_offset)
                    for topic in group.topics
                    for each in topic.partitions
                    if not each.error_code and each.committed_offset >= 0
                },
            )

    def starts(self, places: Iterable[Place]) -> Offsets:
        return list_offsets(self.link, self.leaders, places, EARLIEST)

    def ends(self, places: Iterable[Place]) -> Offsets:
        """High watermarks, as `kafka-consumer-groups` has them."""
        return list_offsets(self.link, self.leaders, places, LATEST)

    # Lag

    def lags(
        self, groups: Iterable[Group], *, times: bool = True, starts: bool = True
    ) -> list[GroupLag]:
        """Without the times of records, or the beginnings of logs, for who does not need them."""
        groups = list(groups)
        progress = self._progress(groups)
        places = {group.name: _places(group, progress.get(group.name, {})) for group in groups}
        everything = {place for some in places.values() for place in some}
        begin = self.starts(everything) if starts else {}
        ends = self.ends(everything)
        behind = [
            (place, each.offset)
            for made in progress.values()
            for place, each in made.items()
            if each.offset < ends.get(place, each.offset)
        ]
        at = read_times(self.link, self.leaders, behind) if times else {}
        now_ms = int(time.time() * 1000)

        def row(group: Group, place: Place) -> PartitionLag:
            made = progress.get(group.name, {}).get(place)
            spot = None if made is None else (place, made.offset)
            unread_ms = None if spot is None else at.get(spot)
            return PartitionLag(
                place,
                None if made is None else made.offset,
                begin.get(place),
                ends.get(place),
                unread_ms,
                group.owners_of(place),
                has_only_markers=spot in at and unread_ms is None,
                waiting=None if made is None else made.waiting,
            )

        return [
            GroupLag(group, tuple(row(group, place) for place in places[group.name]), now_ms)
            for group in groups
        ]


def _places(group: Group, committed: Mapping[Place, Progress]) -> list[Place]:
    """Those that it has committed, and those that its members have."""
    assigned = {place for member in group.members for place in member.assigned}
    return sorted(assigned | set(committed))


def _chunks(items: list[T]) -> Iterator[list[T]]:
    for at in range(0, len(items), GROUPS_AT_ONCE):
        yield items[at : at + GROUPS_AT_ONCE]
