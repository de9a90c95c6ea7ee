"""How far many share partitions are, as their coordinators know it just now.

Nobody is waited for but brokers that answer, and nothing is tried twice: what is not known is left
out. Whoever needs one for sure asks `share_state`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from penstock.coordinator.brokers import Brokers, NoAnswer, NotSpoken
from penstock.protocol.messages import read_share_group_state_summary as form
from penstock.share import ShareKey
from penstock.share.kept import KeptState

if TYPE_CHECKING:
    from penstock.coordinator.share_host import ShareHost

_ANY_EPOCH = -1

ByGroup = Mapping[str, Sequence[ShareKey]]


class ShareSummaries:
    def __init__(self, node_id: int, host: ShareHost, brokers: Brokers) -> None:
        self._node_id = node_id
        self._host = host
        self._brokers = brokers

    async def read(self, keys: Iterable[ShareKey]) -> dict[ShareKey, KeptState]:
        found: dict[ShareKey, KeptState] = {}
        elsewhere: dict[int, dict[str, list[ShareKey]]] = {}
        for key in keys:
            coordinator = self._host.coordinator_of(key.name)
            if coordinator == self._node_id:
                runtime = self._host.loaded_of(key.name)
                state = None if runtime is None else runtime.machine.find(key)
                if state is not None:
                    found[key] = state
            elif coordinator is not None and coordinator >= 0:
                elsewhere.setdefault(coordinator, {}).setdefault(key.group_id, []).append(key)
        for answer in await asyncio.gather(*(self._ask(*each) for each in elsewhere.items())):
            found |= answer
        return found

    async def _ask(self, node_id: int, groups: ByGroup) -> dict[ShareKey, KeptState]:
        """One group after the other, until the broker is silent."""
        found: dict[ShareKey, KeptState] = {}
        for group_id, keys in groups.items():
            try:
                answer = await self._brokers.call(node_id, _request(group_id, keys), 0)
            except (NoAnswer, NotSpoken):
                break
            found.update(_states(group_id, cast(form.ReadShareGroupStateSummaryResponse, answer)))
        return found


def _request(group_id: str, keys: Iterable[ShareKey]) -> form.ReadShareGroupStateSummaryRequest:
    topics: dict[bytes, form.ReadStateSummaryData] = {}
    for key in keys:
        topic = topics.setdefault(key.topic_id, form.ReadStateSummaryData(topic_id=key.topic_id))
        topic.partitions.append(
            form.PartitionData(partition=key.partition, leader_epoch=_ANY_EPOCH)
        )
    return form.ReadShareGroupStateSummaryRequest(group_id=group_id, topics=list(topics.values()))


def _states(
    group_id: str, answer: form.ReadShareGroupStateSummaryResponse
) -> Iterator[tuple[ShareKey, KeptState]]:
    for topic in answer.results:
        for one in topic.partitions:
            if not one.error_code:
                yield (
                    ShareKey(group_id, topic.topic_id, one.partition),
                    KeptState(
                        state_epoch=one.state_epoch,
                        leader_epoch=one.leader_epoch,
                        start_offset=one.start_offset,
                        done_count=one.delivery_complete_count,
                    ),
                )
