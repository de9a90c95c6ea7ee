"""The two snapshots that a formatted directory begins with, in Kafka's bytes: the features of the
cluster, and the voters of a quorum that can change later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.metadata.record import MetadataRecord
from penstock.metadata.release import recorded_features
from penstock.metadata.version import METADATA_VERSION
from penstock.node.format.voter import InitialVoter
from penstock.protocol.codec import encode
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
from penstock.protocol.messages.records.kraft_version_record import KRaftVersionRecord
from penstock.protocol.messages.records.voters_record import (
    Endpoint,
    KRaftVersionFeature,
    Voter,
    VotersRecord,
)
from penstock.quorum.metadata_batch import Control
from penstock.quorum.metadata_snapshot import encode_snapshot
from penstock.records.control import KRAFT_VERSION, KRAFT_VOTERS

FIRST_EPOCH = 0
KRAFT_LEVELS = (0, 1)
"""Which levels of `kraft.version` a voter is known to have, before it says so itself."""


def bootstrap_checkpoint(levels: Mapping[str, int], timestamp_ms: int) -> bytes:
    records: list[MetadataRecord] = [
        FeatureLevelRecord(name=name, feature_level=level)
        for name, level in recorded_features(levels)
    ]
    # No log went before it, so that no time of a log's last record can be told.
    return encode_snapshot(
        records, (), FIRST_EPOCH, timestamp_ms, levels[METADATA_VERSION], last_timestamp_ms=0
    )


def quorum_checkpoint(
    voters: Iterable[InitialVoter], listener: str, kraft_level: int, timestamp_ms: int
) -> bytes:
    controls = [kraft_version(kraft_level), kraft_voters(voters, listener)]
    return encode_snapshot((), controls, FIRST_EPOCH, timestamp_ms, 0)


def kraft_version(level: int) -> Control:
    return KRAFT_VERSION, encode(KRaftVersionRecord(version=0, kraft_version=level), 0)


def kraft_voters(voters: Iterable[InitialVoter], listener: str) -> Control:
    record = VotersRecord(version=0, voters=[_voter(each, listener) for each in voters])
    return KRAFT_VOTERS, encode(record, 0)


def _voter(voter: InitialVoter, listener: str) -> Voter:
    low, high = KRAFT_LEVELS
    return Voter(
        voter_id=voter.id,
        voter_directory_id=voter.directory_id,
        endpoints=[Endpoint(name=listener, host=voter.address.host, port=voter.address.port)],
        kraft_version_feature=KRaftVersionFeature(
            min_supported_version=low, max_supported_version=high
        ),
    )
