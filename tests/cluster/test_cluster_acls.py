"""Access control in a cluster: entries are in force on every node, whoever was asked."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from penstock.model.acl import Operation, PatternType, Permission, ResourceType
from penstock.model.error import ErrorCode
from penstock.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.testing.cluster import Cluster
from tests.authorization.grants import ADMIN
from tests.authorization.login import Login
from tests.authorization.target import security_settings
from tests.patience import wait_until

SETTINGS = {
    **security_settings({"alice": None}, "PLAINTEXT"),
    "listener.security.protocol.map": (
        "PLAINTEXT:SASL_PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT"
    ),
    "penstock.sasl.plain.unencrypted.listeners": "PLAINTEXT",
}
"""Clients log in; nodes are anonymous to each other, and super users."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path / "cluster", nodes=3, settings=SETTINGS) as running:
        yield running


def make_topic(login: Login, name: str) -> int:
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=3)
    made: Any = login.call(CreateTopicsRequest(topics=[topic], timeout_ms=30_000), 7)
    code: int = made.topics[0].error_code
    return code


def described(login: Login, name: str) -> int:
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False
    )
    code: int = login.call(request, 9).topics[0].error_code
    return code


def makes(login: Login, name: str) -> bool:
    return make_topic(login, name) == ErrorCode.NONE


def sees(login: Login, name: str) -> bool:
    return described(login, name) == ErrorCode.NONE


def is_refused(login: Login, name: str) -> bool:
    return described(login, name) == ErrorCode.TOPIC_AUTHORIZATION_FAILED


def test_entries_are_in_force_everywhere(cluster: Cluster) -> None:
    addresses = [node.bootstrap_servers for node in cluster.nodes.values()]
    admins = [Login(address, ADMIN) for address in addresses]
    alices = [Login(address, "alice") for address in addresses]
    try:
        for number, (admin, alice) in enumerate(zip(admins, alices, strict=True)):
            name = f"t{number}"
            # One of the three is the controller: the others send it on in the client's name.
            assert make_topic(alice, name) == ErrorCode.TOPIC_AUTHORIZATION_FAILED
            grant = AclCreation(
                resource_type=ResourceType.TOPIC,
                resource_name=name,
                principal="User:alice",
                host="127.0.0.0/8",
                operation=Operation.ALL,
                permission_type=Permission.ALLOW,
            )
            assert not admin.call(CreateAclsRequest(creations=[grant]), 3).results[0].error_code
            wait_until(partial(makes, alice, name), "alice makes a topic")
            for other in alices:
                wait_until(partial(sees, other, name), "known everywhere")
        everything = DeleteAclsFilter(
            resource_type_filter=ResourceType.ANY,
            resource_name_filter=None,
            pattern_type_filter=PatternType.ANY,
            principal_filter="User:alice",
            host_filter=None,
            operation=Operation.ANY,
            permission_type=Permission.ANY,
        )
        gone = admins[0].call(DeleteAclsRequest(filters=[everything]), 3).filter_results[0]
        assert len(gone.matching_acls) == 3
        for alice in alices:
            wait_until(partial(is_refused, alice, "t0"), "refused everywhere")
    finally:
        for login in (*admins, *alices):
            login.close()
