"""The two snapshots that a formatted directory begins with, in Kafka's bytes: the features of the
cluster, and the voters of a quorum that can change later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.metadata.record import MetadataRecord
from penstock.metadata.release import recorded_features
from penstock.metadata.version import METADATA_VERSION
from penstock.node.format.voter import InitialVoter
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
from penstock.protocol.messages.records.user_scram_credential_record import (
    UserScramCredentialRecord,
)
from penstock.quorum.control_record import kraft_version_control, voters_control
from penstock.quorum.metadata_snapshot import encode_snapshot
from penstock.raft import RaftEndpoint, ReplicaKey, VersionRange, Voter

FIRST_EPOCH = 0
KRAFT_LEVELS = VersionRange(0, 1)
"""Which levels of `kraft.version` a voter is known to have, before it says so itself."""


def bootstrap_checkpoint(
    levels: Mapping[str, int], timestamp_ms: int, users: Iterable[UserScramCredentialRecord] = ()
) -> bytes:
    records: list[MetadataRecord] = [
        FeatureLevelRecord(name=name, feature_level=level)
        for name, level in recorded_features(levels)
    ]
    records += users
    # No log went before it, so that no time of a log's last record can be told.
    return encode_snapshot(
        records, (), FIRST_EPOCH, timestamp_ms, levels[METADATA_VERSION], last_timestamp_ms=0
    )


def quorum_checkpoint(
    voters: Iterable[InitialVoter], listener: str, kraft_level: int, timestamp_ms: int
) -> bytes:
    named = [_voter(each, listener) for each in voters]
    controls = [kraft_version_control(kraft_level), voters_control(named)]
    return encode_snapshot((), controls, FIRST_EPOCH, timestamp_ms, 0)


def _voter(voter: InitialVoter, listener: str) -> Voter:
    address = voter.address
    return Voter(
        ReplicaKey(voter.id, voter.directory_id),
        (RaftEndpoint(listener, address.host, address.port),),
        KRAFT_LEVELS,
    )
