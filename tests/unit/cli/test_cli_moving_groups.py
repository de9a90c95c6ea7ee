"""Groups while their coordinators move: what is not known is not taken for what is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from penstock.cli.cluster import Cluster
from penstock.cli.failure import Failure
from penstock.cli.group.reader import OFFSETS_TOPIC, ClusterReader
from penstock.cli.group.watch import _looks
from penstock.cli.operator.link import Link
from penstock.cli.profile import Target
from penstock.model.error import ErrorCode
from penstock.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from penstock.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from penstock.protocol.messages.list_groups import (
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
)
from penstock.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from tests.unit.cli.scripted_broker import ScriptedBroker


class Coordinators(ScriptedBroker):
    """One broker, which coordinates the group `billing` as soon as it is said to."""

    def __init__(self) -> None:
        super().__init__()
        self.leader = 1
        self.listed = [ListedGroup(group_id="billing", group_state="Stable")]
        self.list_error = 0
        self.describe_error = 0
        self.state = "Stable"
        self.after_list: Callable[[], None] = lambda: None
        self.answers |= {
            MetadataRequest: lambda _: self._metadata(),
            ListGroupsRequest: lambda _: self._list(),
            DescribeGroupsRequest: lambda _: self._describe(),
            FindCoordinatorRequest: lambda _: FindCoordinatorResponse(
                coordinators=[
                    Coordinator(key="billing", node_id=1, host="127.0.0.1", port=self.port)
                ]
            ),
        }

    def _metadata(self) -> MetadataResponse:
        partition = MetadataResponsePartition(partition_index=0, leader_id=self.leader)
        return MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=1, host="127.0.0.1", port=self.port)],
            topics=[MetadataResponseTopic(name=OFFSETS_TOPIC, partitions=[partition])],
        )

    def _list(self) -> ListGroupsResponse:
        answer = ListGroupsResponse(error_code=self.list_error, groups=list(self.listed))
        self.after_list()
        return answer

    def _describe(self) -> DescribeGroupsResponse:
        described = DescribedGroup(
            group_id="billing", error_code=self.describe_error, group_state=self.state
        )
        return DescribeGroupsResponse(groups=[described])

    def settle(self) -> None:
        self.__dict__.update(leader=1, list_error=0, describe_error=0)
        self.listed = [ListedGroup(group_id="billing", group_state="Stable")]


@pytest.fixture
def broker() -> Iterator[Coordinators]:
    with Coordinators() as made:
        yield made


def reader(broker: Coordinators, timeout_s: float = 10.0) -> ClusterReader:
    return ClusterReader(Link(Cluster(Target(broker.servers), timeout_s=timeout_s)))


MOVING = [
    {"listed": [], "list_error": ErrorCode.COORDINATOR_LOAD_IN_PROGRESS},
    {"listed": [], "leader": -1},
    {"describe_error": ErrorCode.NOT_COORDINATOR},
    # It does not know yet that it is the coordinator, and lists nothing.
    {"listed": [], "describe_error": ErrorCode.NOT_COORDINATOR},
]
NAMES = ["loading", "no leader", "moved since listed", "not known yet"]


@pytest.mark.parametrize("state", MOVING, ids=NAMES)
def test_a_group_that_moves_is_waited_for(broker: Coordinators, state: dict[str, object]) -> None:
    broker.__dict__.update(state)
    looks = 0

    def settle_at_the_second() -> None:
        nonlocal looks
        looks += 1
        if looks == 2:
            broker.settle()

    broker.after_list = settle_at_the_second
    with reader(broker) as opened:
        found = opened.find("billing")
    assert found is not None and found.name == "billing"


@pytest.mark.parametrize("state", MOVING, ids=NAMES)
def test_a_group_that_does_not_settle_is_not_taken_for_none(
    broker: Coordinators, state: dict[str, object]
) -> None:
    """Or `groups seed` would set offsets that it has, and members would not be seen."""
    broker.__dict__.update(state)
    with (
        reader(broker, timeout_s=0.5) as opened,
        pytest.raises(Failure, match="whether there is a group billing cannot be told now"),
    ):
        opened.find("billing")


def test_a_group_that_is_not_there_is_told_at_once(broker: Coordinators) -> None:
    broker.listed, broker.state = [], "Dead"
    with reader(broker) as opened:
        assert opened.find("billing") is None
        with pytest.raises(Failure, match="there is no group billing"):
            opened.named("billing")


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (MOVING[0], "broker 1 is still loading them"),
        (MOVING[1], f"1 partition of {OFFSETS_TOPIC} without a leader"),
    ],
    ids=NAMES[:2],
)
def test_a_list_says_that_groups_may_be_missing(
    broker: Coordinators, state: dict[str, object], said: str
) -> None:
    broker.__dict__.update(state)
    with reader(broker) as opened:
        assert opened.listed() == []
        assert opened.gaps == [said]
        broker.settle()
        opened._begin()
        assert [each.name for each in opened.listed()] == ["billing"]
        assert opened.gaps == []


def test_an_outage_does_not_end_a_live_view(capsys: pytest.CaptureFixture[str]) -> None:
    answers = iter([1, Failure("broker 2 did not answer"), 3])

    def look() -> int:
        answer = next(answers)
        if isinstance(answer, Failure):
            raise answer
        return answer

    looks = _looks(look, 0.0, 0)
    assert [next(looks), next(looks)] == [1, 3]
    assert capsys.readouterr().err == "penstock: broker 2 did not answer; trying again\n"


@pytest.mark.parametrize(("before", "count"), [([], 0), ([1], 2)], ids=["first", "counted"])
def test_other_looks_that_fail_end_it(before: list[int], count: int) -> None:
    answers = iter(before)

    def look() -> int:
        for each in answers:
            return each
        raise Failure("gone")

    looks = _looks(look, 0.0, count)
    assert [next(looks) for _ in before] == before
    with pytest.raises(Failure, match="gone"):
        next(looks)
