"""Asks every question as every user, and writes down what is answered."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.model.id import id_to_str
from penstock.protocol.frame import API_BY_KEY
from penstock.protocol.messages.api_versions import ApiVersionsRequest
from penstock.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.describe_delegation_token import DescribeDelegationTokenRequest
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.produce import ProduceRequest
from penstock.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.authorization.cases import (
    CONSUMERS,
    GROUP,
    OWN,
    SHARERS,
    TOKEN,
    TOPIC,
    TRANSACTION,
    UNKNOWN_ID,
    Case,
    Scene,
    all_cases,
)
from tests.authorization.grants import ADMIN, USERS, creations
from tests.authorization.login import Hangup, Login
from tests.authorization.outcome import CLOSED, Outcome, outcome_of
from tests.authorization.streams_cases import join
from tests.patience import wait_until

Table = dict[str, dict[str, Outcome]]
"""By question and version, then by user."""

DELETE_TOPICS = 20
DESCRIBE_TOKENS = 41
CONSUMER_GROUP_DESCRIBE = 69
OF_SHARE_GROUPS = range(76, 93)


def ask_all(bootstrap_servers: str, *, newest_only: bool) -> Table:
    with Login(bootstrap_servers, ADMIN) as admin:
        asked = list(_versions(admin, newest_only))
        topic_id = _set_up(admin)
        logins = {user: Login(bootstrap_servers, user) for user in USERS}
        try:
            _wait_effective(logins["everything"])
            table: Table = {}
            for case, version in asked:
                if case.api_key == CONSUMER_GROUP_DESCRIBE:
                    _join(admin)
                    _join_streams(admin)
                if case.api_key in OF_SHARE_GROUPS:
                    _join_share(admin)
                if case.api_key == DESCRIBE_TOKENS:
                    _wait_tokens(admin, table)
                table[f"{case.name} v{version}"] = {
                    user: _ask(login, case, Scene(user, version, topic_id))
                    for user, login in logins.items()
                }
            return table
        finally:
            for login in logins.values():
                login.close()


def _versions(admin: Login, newest_only: bool) -> Iterator[tuple[Case, int]]:
    """Those that both sides know."""
    told = admin.call(ApiVersionsRequest(client_software_name="t", client_software_version="1"), 3)
    served = {one.api_key: one for one in told.api_keys}
    for case in all_cases():
        here, there = API_BY_KEY[case.api_key], served[case.api_key]
        first = max(here.min_version, there.min_version, case.versions.start)
        last = min(here.max_version, there.max_version, case.versions.stop - 1)
        if first <= last:
            for version in range(last if newest_only else first, last + 1):
                yield case, version


def _set_up(admin: Login) -> bytes:
    """What the questions are about; the id of their topic."""
    for result in admin.call(creations(), 3).results:
        assert not result.error_code, result.error_message
    own = [
        f"{OWN}{user}-{version}"
        for user in USERS
        for version in range(API_BY_KEY[DELETE_TOPICS].max_version + 1)
    ]
    made = admin.call(
        CreateTopicsRequest(
            topics=[
                CreatableTopic(name=name, num_partitions=1, replication_factor=1)
                for name in (TOPIC, *own)
            ],
            timeout_ms=60_000,
        ),
        5,
    )
    assert not any(topic.error_code for topic in made.topics), made
    _wait_coordinator(admin, 0, GROUP)
    _wait_coordinator(admin, 1, TRANSACTION)
    _wait_share_coordinator(admin)
    kept = [OffsetCommitRequestPartition(partition_index=0, committed_offset=0)]
    commit = OffsetCommitRequest(
        group_id=GROUP, topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=kept)]
    )
    wait_until(
        lambda: not admin.call(commit, 9).topics[0].partitions[0].error_code, "a commit is taken"
    )
    begin = InitProducerIdRequest(transactional_id=TRANSACTION, transaction_timeout_ms=60_000)
    wait_until(lambda: not admin.call(begin, 4).error_code, "a transactional id is taken")
    asked = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)])
    topic_id: bytes = admin.call(asked, 12).topics[0].topic_id
    return topic_id


def _join(admin: Login) -> None:
    """A member that reads the topic: who describes its group hears of the topic."""
    request = ConsumerGroupHeartbeatRequest(
        group_id=CONSUMERS,
        member_id="reader",
        member_epoch=0,
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=[TOPIC],
        topic_partitions=[],
    )

    def has_partitions() -> bool:
        answer = admin.call(request, 1)
        return answer.assignment is not None and bool(answer.assignment.topic_partitions)

    wait_until(has_partitions, "a member has its partitions")


def _join_share(admin: Login) -> None:
    """Likewise, so that the group is never empty."""
    request = ShareGroupHeartbeatRequest(
        group_id=SHARERS, member_id="reader", member_epoch=0, subscribed_topic_names=[TOPIC]
    )

    def has_partitions() -> bool:
        answer = admin.call(request, 1)
        return answer.assignment is not None and bool(answer.assignment.topic_partitions)

    wait_until(has_partitions, "a member of a share group has its partitions")


def _join_streams(admin: Login) -> None:
    """A member whose topology names the topic."""
    request = join("reader", 60_000)
    wait_until(lambda: not admin.call(request, 0).error_code, "a streams group has a member")


def _wait_tokens(admin: Login, table: Table) -> None:
    """Until every token that was given is known to the broker."""
    given = sum(
        "error_code" not in answer
        for question, answers in table.items()
        if question.startswith(TOKEN)
        for answer in answers.values()
    )
    request = DescribeDelegationTokenRequest(owners=None)
    wait_until(lambda: len(admin.call(request, 3).tokens) == given, f"{given} tokens are known")


def _wait_coordinator(admin: Login, kind: int, key: str) -> None:
    request = FindCoordinatorRequest(key_type=kind, key=key)
    wait_until(lambda: not admin.call(request, 3).error_code, f"{key} has a coordinator")


def _wait_share_coordinator(admin: Login) -> None:
    key = f"{SHARERS}:{id_to_str(UNKNOWN_ID)}:0"
    request = FindCoordinatorRequest(key_type=2, coordinator_keys=[key])
    wait_until(lambda: not admin.call(request, 6).coordinators[0].error_code, f"{key} has one")


def _wait_effective(login: Login) -> None:
    """Entries are in force soon after they are acknowledged."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)])
    wait_until(lambda: not login.call(request, 9).topics[0].error_code, "entries are in force")


def _ask(login: Login, case: Case, scene: Scene) -> Outcome:
    request = case.build(scene)
    try:
        if isinstance(request, ProduceRequest) and request.acks == 0:
            return _ask_silently(login, request, scene.version)
        return outcome_of(login.call(request, scene.version))
    except Hangup:
        return CLOSED


def _ask_silently(login: Login, request: ProduceRequest, version: int) -> Outcome:
    """Whatever is asked next is answered, or the connection has ended."""
    login.send(request, version)
    login.call(ApiVersionsRequest(client_software_name="t", client_software_version="1"), 3)
    return {}
