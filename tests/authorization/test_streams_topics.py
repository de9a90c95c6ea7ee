"""The internal topics of a streams group are made with the rights of its members."""

from __future__ import annotations

from pathlib import Path

from penstock.model.acl import Operation, ResourceType
from penstock.protocol.messages.create_acls import CreateAclsRequest
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from tests.authorization.grants import ADMIN, PREFIX, Grant
from tests.authorization.login import Login
from tests.authorization.target import penstock
from tests.patience import wait_until
from tests.transcripts.streams_script import topology_of

GROUP, TOPIC, CHANGELOG = f"{PREFIX}group", f"{PREFIX}lines", f"{PREFIX}changelog"
READER = (
    Grant(ResourceType.GROUP, Operation.READ),
    Grant(ResourceType.TOPIC, Operation.DESCRIBE),
)
USERS = {"reader": READER, "maker": (*READER, Grant(ResourceType.TOPIC, Operation.CREATE))}


def join(member_id: str) -> StreamsGroupHeartbeatRequest:
    return StreamsGroupHeartbeatRequest(
        group_id=GROUP,
        member_id=member_id,
        rebalance_timeout_ms=60_000,
        topology=topology_of(f"0 in:{TOPIC} store:{CHANGELOG}"),
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        process_id=member_id,
    )


def test_who_may_not_create_is_told_so(tmp_path: Path) -> None:
    with penstock(tmp_path, USERS) as broker:
        broker.create_topic(TOPIC, 1)
        with Login(broker.secured, ADMIN) as admin:
            granted = [grant.creation(user) for user, found in USERS.items() for grant in found]
            admin.call(CreateAclsRequest(creations=granted), 3)
            asked = FindCoordinatorRequest(coordinator_keys=[GROUP])
            wait_until(lambda: not admin.call(asked, 4).coordinators[0].error_code, "a coordinator")
        with Login(broker.secured, "reader") as reader, Login(broker.secured, "maker") as maker:
            wait_until(lambda: not reader.call(join("r"), 0).error_code, "the reader is in")
            details = [one.status_detail for one in reader.call(join("r"), 0).status]
            assert any(
                one.endswith(f"; Unauthorized to CREATE on topics {CHANGELOG}.") for one in details
            ), details
            wait_until(lambda: not maker.call(join("m"), 0).error_code, "the maker is in")
            wait_until(lambda: _is_complete(maker), "the topic is made")


def _is_complete(login: Login) -> bool:
    answer = login.call(join("m"), 0)
    return not answer.error_code and all(
        "missing" not in one.status_detail for one in answer.status
    )
