"""Levels of features, changed while the cluster runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.api_versions import ApiVersionsRequest
from penstock.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.conformance.clients.raw import Connection
from tests.patience import wait_until

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
TRANSACTION = "transaction.version"
REFUSED = ErrorCode.INVALID_UPDATE_VERSION


def update(
    connection: Connection, feature: str, level: int, kind: int = UPGRADE, dry_run: bool = False
) -> tuple[int, str]:
    wanted = FeatureUpdateKey(feature=feature, max_version_level=level, upgrade_type=kind)
    request = UpdateFeaturesRequest(feature_updates=[wanted], validate_only=dry_run)
    answer = connection.call(request, 2)
    return answer.error_code, answer.error_message or ""


def level_of(connection: Connection, feature: str) -> int:
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    answer = connection.call(request, 4)
    levels = {one.name: one.max_version_level for one in answer.finalized_features}
    return int(levels.get(feature, 0))


@pytest.fixture
def restored(connection: Connection) -> Iterator[None]:
    yield
    update(connection, TRANSACTION, 2)
    wait_until(lambda: level_of(connection, TRANSACTION) == 2)


@pytest.mark.usefixtures("restored")
@pytest.mark.feature("Lower and raise a level; a dry run changes nothing")
@pytest.mark.client("raw requests")
def test_down_and_up(connection: Connection) -> None:
    assert update(connection, TRANSACTION, 1, SAFE_DOWNGRADE, dry_run=True) == (0, "")
    assert level_of(connection, TRANSACTION) == 2
    assert update(connection, TRANSACTION, 1, SAFE_DOWNGRADE) == (0, "")
    wait_until(lambda: level_of(connection, TRANSACTION) == 1)
    assert update(connection, TRANSACTION, 2) == (0, "")
    wait_until(lambda: level_of(connection, TRANSACTION) == 2)


WRONG = [
    (TRANSACTION, 1, UPGRADE, "Can't downgrade the version of this feature without setting"),
    (TRANSACTION, 9, UPGRADE, r"Local controller \d only supports versions 0-2"),
    (TRANSACTION, -1, SAFE_DOWNGRADE, "A feature version cannot be less than 0."),
    ("no.such", 1, UPGRADE, r"Local controller \d does not support this feature."),
    ("kraft.version", 2, UPGRADE, r"Local controller \d only supports versions 0-1"),
    (
        "metadata.version",
        29,
        SAFE_DOWNGRADE,
        "Unsupported metadata.version downgrade from 30 to 29. Refusing to perform the requested",
    ),
]


@pytest.mark.parametrize(("feature", "level", "kind", "message"), WRONG)
@pytest.mark.feature("Levels that cannot be (INVALID_UPDATE_VERSION)")
@pytest.mark.client("raw requests")
def test_refused(connection: Connection, feature: str, level: int, kind: int, message: str) -> None:
    code, told = update(connection, feature, level, kind)
    assert code == REFUSED
    assert re.search(message, told), told


@pytest.mark.feature("Every level that is said to be supported can be chosen")
@pytest.mark.client("raw requests")
def test_supported_levels(connection: Connection) -> None:
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    supported = {one.name: one for one in connection.call(request, 4).supported_features}
    assert {TRANSACTION, "share.version", "streams.version"} <= supported.keys()
    for name, range_ in supported.items():
        assert update(connection, name, range_.max_version, dry_run=True) == (0, ""), name


@pytest.mark.java
@pytest.mark.usefixtures("restored")
@pytest.mark.feature("describe, upgrade, downgrade, disable")
@pytest.mark.client("kafka-features")
def test_tool(tool: Callable[..., str], connection: Connection) -> None:
    def described(feature: str) -> list[str]:
        for line in tool("kafka-features", "describe").splitlines():
            words = line.split()
            if words[1] == feature:
                return words[3:8:2]
        return []

    assert described(TRANSACTION) == ["0", "2", "2"]
    assert described("metadata.version")[1:] == ["4.3-IV0", "4.3-IV0"]
    said = tool("kafka-features", "upgrade", "--feature", "metadata.version=30")
    assert "metadata.version was upgraded to 30." in said
    said = tool("kafka-features", "downgrade", "--feature", f"{TRANSACTION}=1")
    assert f"{TRANSACTION} was downgraded to 1." in said
    said = tool("kafka-features", "disable", "--feature", TRANSACTION)
    assert f"{TRANSACTION} was disabled." in said
    wait_until(lambda: level_of(connection, TRANSACTION) == 0)
    said = tool("kafka-features", "upgrade", "--feature", f"{TRANSACTION}=2")
    assert f"{TRANSACTION} was upgraded to 2." in said
    said = tool("kafka-features", "upgrade", "--feature", f"{TRANSACTION}=9", fails=True)
    assert "only supports versions 0-2" in said
    said = tool("kafka-features", "upgrade", "--feature", "kraft.version=1", "--dry-run")
    assert "kraft.version can be upgraded to 1." in said
