"""The authorizer: Kafka's rules, and the index beside a plain look at every entry."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.metadata.acl import Acl
from penstock.model.acl import Operation, PatternType, Permission, ResourceType
from penstock.model.internal_topic import AUDIT_TOPIC
from penstock.model.principal import Principal
from penstock.security.access import Access
from penstock.security.authorizer import Authorizer, super_users_of
from penstock.security.host import host_matches

ALICE, BOB = Principal("User", "alice"), Principal("User", "bob")
HOST = "10.1.2.3"
TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP
READ, WRITE, DESCRIBE = Operation.READ, Operation.WRITE, Operation.DESCRIBE


def entry(
    name: str = "t",
    operation: Operation = READ,
    principal: str = "User:alice",
    *,
    prefixed: bool = False,
    deny: bool = False,
    host: str = "*",
    kind: ResourceType = TOPIC,
) -> Acl:
    return Acl(
        kind,
        name,
        PatternType.PREFIXED if prefixed else PatternType.LITERAL,
        principal,
        host,
        operation,
        Permission.DENY if deny else Permission.ALLOW,
    )


def may(
    acls: Sequence[Acl],
    name: str = "t",
    operation: Operation = READ,
    principal: Principal = ALICE,
    host: str = HOST,
) -> bool:
    return Authorizer(acls=acls).judge(principal, host, operation, TOPIC, name).is_allowed


def test_what_is_granted_is_allowed_and_nothing_else() -> None:
    acls = [entry("t", READ)]
    assert may(acls)
    assert not may(acls, "u")
    assert not may(acls, operation=WRITE)
    assert not may(acls, principal=BOB)
    assert not may(acls, principal=Principal("Group", "alice"))
    assert not may([entry(kind=GROUP)])


@pytest.mark.parametrize("granted", ["READ", "WRITE", "DELETE", "ALTER", "DESCRIBE", "ALL"])
def test_what_implies_describe(granted: str) -> None:
    assert may([entry(operation=Operation[granted])], operation=DESCRIBE)


@pytest.mark.parametrize("granted", ["CREATE", "ALTER_CONFIGS", "DESCRIBE_CONFIGS"])
def test_what_does_not(granted: str) -> None:
    assert not may([entry(operation=Operation[granted])], operation=DESCRIBE)


def test_describe_configs_comes_with_alter_configs_alone() -> None:
    assert may([entry(operation=Operation.ALTER_CONFIGS)], operation=Operation.DESCRIBE_CONFIGS)
    assert not may([entry(operation=Operation.ALTER)], operation=Operation.DESCRIBE_CONFIGS)


def test_a_refusal_implies_nothing() -> None:
    acls = [entry(operation=Operation.ALL), entry(operation=READ, deny=True)]
    assert not may(acls)
    assert may(acls, operation=DESCRIBE)
    assert may(acls, operation=WRITE)


@pytest.mark.parametrize(
    "refusal",
    [
        entry("*", deny=True),
        entry("te", prefixed=True, deny=True),
        entry("test", deny=True, principal="User:*"),
        entry("test", Operation.ALL, deny=True),
        entry("test", deny=True, host=HOST),
        entry("test", deny=True, host="10.1.0.0/16"),
    ],
)
def test_any_refusal_outweighs_every_grant(refusal: Acl) -> None:
    grants = [entry("test"), entry("*"), entry("t", prefixed=True)]
    assert may(grants, "test")
    assert not may([*grants, refusal], "test")
    assert not may([refusal, *grants], "test")


def test_patterns_are_not_confused() -> None:
    prefixed = [entry("a.", prefixed=True)]
    assert may(prefixed, "a.b")
    assert may(prefixed, "a.")
    assert not may(prefixed, "a")
    assert not may(prefixed, "ab")
    assert not may([entry("a.")], "a.b"), "a literal name is no prefix"
    assert may([entry("*")], "whatever")
    assert not may([entry("*", prefixed=True)], "whatever"), "a prefix of a star is a star"
    assert may([entry("*", prefixed=True)], "*x")
    assert not may([entry("a*")], "ab")
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    assert not may([entry(composed)], decomposed), "names are compared as they are"
    assert not may([entry("cafe", prefixed=True)], composed)
    assert may([entry("cafe", prefixed=True)], decomposed)
    assert not may([entry("\u0430")], "a"), "a Cyrillic letter is none of ours"


def test_everybody_and_hosts() -> None:
    assert may([entry(principal="User:*")], principal=BOB)
    assert not may([entry(principal="Group:*")], principal=BOB)
    assert may([entry(host=HOST)])
    assert not may([entry(host="10.1.2.4")])
    assert may([entry(host="10.1.0.0/16")])
    assert not may([entry(host="10.2.0.0/16")])


def test_networks() -> None:
    assert host_matches("::1/128", "::1")
    assert host_matches("fe80::/10", "fe80::1%eth0")
    assert host_matches("10.0.0.0/8", "::ffff:10.2.3.4"), "as a socket of both families shows it"
    assert not host_matches("10.0.0.1/8", "10.0.0.1"), "an address with a length is no network"
    assert not host_matches("10.0.0.0/33", "10.0.0.1")
    assert not host_matches("10.0.0.0/8", "not-an-address")
    assert not host_matches("0.0.0.0/0", "::1")


def test_super_users_may_do_everything() -> None:
    authorizer = Authorizer(
        super_users_of("User:alice; Service:x;;"), acls=[entry(deny=True), entry(deny=True)]
    )
    verdict = authorizer.judge(ALICE, HOST, READ, TOPIC, "t")
    assert verdict.is_allowed and verdict.is_super_user
    assert not authorizer.judge(BOB, HOST, READ, TOPIC, "t").is_allowed
    assert authorizer.may_any(ALICE, HOST, WRITE, TOPIC)


def test_what_nobody_spoke_of() -> None:
    authorizer = Authorizer(unlisted_allowed=True, acls=[entry("t"), entry("p", prefixed=True)])

    def allowed(name: str) -> bool:
        return authorizer.judge(BOB, HOST, READ, TOPIC, name).is_allowed

    assert allowed("u")
    assert not allowed("t"), "somebody else's entry makes it listed"
    assert not allowed("pq")
    authorizer.add(entry("*"))
    assert not allowed("u")


def test_whether_there_is_anything_to_write_to() -> None:
    def anything(*acls: Acl) -> bool:
        return Authorizer(acls=acls).may_any(ALICE, HOST, WRITE, TOPIC)

    grant = entry("abc", WRITE)
    assert not anything()
    assert anything(grant)
    assert not anything(entry("abc", WRITE, principal="User:bob"))
    assert not anything(entry("abc", WRITE, host="1.1.1.1"))
    assert not anything(entry("abc", READ)), "nothing is implied"
    assert not anything(grant, entry("abc", WRITE, deny=True))
    assert not anything(grant, entry("ab", WRITE, deny=True, prefixed=True))
    assert anything(grant, entry("ab", WRITE, deny=True))
    assert anything(entry("ab", WRITE, prefixed=True), entry("ab", WRITE, deny=True))
    assert anything(
        entry("ab", WRITE, prefixed=True), entry("abc", WRITE, deny=True, prefixed=True)
    )
    assert not anything(entry("ab", WRITE, prefixed=True), entry("*", WRITE, deny=True))
    assert anything(entry("*", WRITE), entry("abc", WRITE, deny=True))


def test_decisions_are_remembered_until_an_entry_changes() -> None:
    authorizer = Authorizer()
    access = Access(authorizer, ALICE, HOST)
    assert not access.may(READ, TOPIC, "t")
    assert not access.may_any(READ, TOPIC)
    grant = entry("t")
    authorizer.add(grant)
    assert access.may(READ, TOPIC, "t")
    assert access.may_any(READ, TOPIC)
    authorizer.remove(grant)
    assert not access.may(READ, TOPIC, "t")
    assert not access.may_any(READ, TOPIC)


NAMES = st.text("ab*é", min_size=1, max_size=4)
ACLS = st.builds(
    Acl,
    st.sampled_from([TOPIC, GROUP]),
    NAMES,
    st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED]),
    st.sampled_from(["User:alice", "User:bob", "User:*", "Group:*"]),
    st.sampled_from(["*", HOST, "10.0.0.0/8", "1.1.1.1"]),
    st.sampled_from([READ, WRITE, DESCRIBE, Operation.ALL, Operation.CREATE]),
    st.sampled_from([Permission.ALLOW, Permission.DENY]),
)


def naive(acls: Sequence[Acl], name: str, operation: Operation, unlisted_allowed: bool) -> bool:
    """Every entry in turn, as the rules are written down."""
    about = [
        acl
        for acl in acls
        if acl.resource_type == TOPIC
        and (
            name.startswith(acl.resource_name)
            if acl.pattern_type == PatternType.PREFIXED
            else acl.resource_name in (name, "*")
        )
    ]
    mine = [
        acl
        for acl in about
        if acl.principal in ("User:alice", "User:*") and acl.host in ("*", HOST, "10.0.0.0/8")
    ]
    if any(
        acl.permission == Permission.DENY and acl.operation in (operation, Operation.ALL)
        for acl in mine
    ):
        return False
    implied = {READ, WRITE, DESCRIBE} if operation == DESCRIBE else {operation}
    if any(
        acl.permission == Permission.ALLOW and acl.operation in {*implied, Operation.ALL}
        for acl in mine
    ):
        return True
    return unlisted_allowed and not about


@given(
    st.lists(ACLS, max_size=12, unique=True),
    st.integers(0, 12),
    NAMES,
    st.sampled_from([READ, WRITE, DESCRIBE, Operation.CREATE]),
    st.booleans(),
)
def test_the_index_says_what_a_look_at_every_entry_says(
    acls: list[Acl], gone: int, name: str, operation: Operation, unlisted_allowed: bool
) -> None:
    authorizer = Authorizer(unlisted_allowed=unlisted_allowed, acls=acls)
    for acl in acls[:gone]:
        authorizer.remove(acl)
    verdict = authorizer.judge(ALICE, HOST, operation, TOPIC, name)
    assert verdict.is_allowed == naive(acls[gone:], name, operation, unlisted_allowed)
    if verdict.acl is not None:
        assert (verdict.acl.permission == Permission.ALLOW) == verdict.is_allowed


def test_the_audit_log_takes_grants_by_its_own_name_alone() -> None:
    for acl in (entry("*"), entry("__", prefixed=True), entry(AUDIT_TOPIC[:-1], prefixed=True)):
        assert may([acl], "__other") == (acl.resource_name != AUDIT_TOPIC[:-1])
        assert not may([acl], AUDIT_TOPIC)
    assert may([entry(AUDIT_TOPIC)], AUDIT_TOPIC)
    assert not may([entry(AUDIT_TOPIC), entry("*", deny=True)], AUDIT_TOPIC)
    unlisted = Authorizer(unlisted_allowed=True)
    assert not unlisted.judge(ALICE, HOST, READ, TOPIC, AUDIT_TOPIC).is_allowed
    assert unlisted.judge(ALICE, HOST, READ, GROUP, AUDIT_TOPIC).is_allowed
