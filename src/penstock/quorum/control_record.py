"""Control records of the metadata log as raft's values: who leads, who votes, which kraft.version.

Owns the translation in both directions. Touches no file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from penstock.protocol.codec import decode, encode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.records import leader_change_message as leader
from penstock.protocol.messages.records import voters_record as record
from penstock.protocol.messages.records.kraft_version_record import KRaftVersionRecord
from penstock.quorum.metadata_batch import Control
from penstock.raft import (
    AppendControl,
    ControlEntry,
    LeaderChange,
    RaftEndpoint,
    ReplicaKey,
    VersionRange,
    Voter,
    VoterHistory,
    VoterSet,
)
from penstock.records.control import KRAFT_VERSION, KRAFT_VOTERS, LEADER_CHANGE, control_kind
from penstock.records.header import BatchHeader, Buffer, InvalidRecord
from penstock.records.record import iter_records

EntityT = TypeVar("EntityT", bound=Entity)


def encode_controls(work: AppendControl) -> list[Control]:
    """The records of one control batch, in Kafka's order."""
    controls: list[Control] = []
    if work.leader_change is not None:
        controls.append((LEADER_CHANGE, encode(_leader_change(work.leader_change), 0)))
    if work.kraft_version is not None:
        controls.append(kraft_version_control(work.kraft_version))
    if work.voters is not None:
        controls.append(voters_control(work.voters.voters))
    return controls


def snapshot_controls(history: VoterHistory, end_offset: int) -> list[Control]:
    """What a snapshot up to there says of the voters: nothing, while they are fixed by
    configuration."""
    version = history.kraft_version_before(end_offset)
    if version == 0:
        return []
    voters = history.voters_before(end_offset).voters
    return [kraft_version_control(version), voters_control(voters)]


def read_entries(header: BatchHeader, batch: Buffer) -> list[ControlEntry]:
    """What the control records of a batch say of voters; nothing from a batch of data."""
    if not header.is_control:
        return []
    entries = (
        decode_entry(record.offset, control_kind(record.key), record.value or b"")
        for record in iter_records(batch)
    )
    return [entry for entry in entries if entry is not None]


def decode_entry(offset: int, kind: int, value: Buffer) -> ControlEntry | None:
    if kind == KRAFT_VERSION:
        version = _whole(KRaftVersionRecord, value)
        return ControlEntry(offset, kraft_version=version.kraft_version)
    if kind == KRAFT_VOTERS:
        voters = _whole(record.VotersRecord, value)
        return ControlEntry(offset, voters=VoterSet(_voter(one) for one in voters.voters))
    return None


def _whole(kind: type[EntityT], value: Buffer) -> EntityT:
    message, behind = decode(kind, 0, value, 0)
    if behind != len(value):
        raise InvalidRecord(f"{len(value) - behind} bytes left behind {kind.NAME}")
    return message


def _leader_change(change: LeaderChange) -> Entity:
    return leader.LeaderChangeMessage(
        version=0,
        leader_id=change.leader_id,
        voters=[leader.Voter(voter_id=one) for one in change.voters],
        granting_voters=[leader.Voter(voter_id=one) for one in change.granting],
    )


def kraft_version_control(version: int) -> Control:
    return KRAFT_VERSION, encode(KRaftVersionRecord(version=0, kraft_version=version), 0)


def voters_control(voters: Iterable[Voter]) -> Control:
    message = record.VotersRecord(version=0, voters=[_voter_entry(one) for one in voters])
    return KRAFT_VOTERS, encode(message, 0)


def _voter_entry(voter: Voter) -> record.Voter:
    return record.Voter(
        voter_id=voter.key.id,
        voter_directory_id=voter.key.directory_id,
        endpoints=[
            record.Endpoint(name=one.listener, host=one.host, port=one.port)
            for one in voter.endpoints
        ],
        kraft_version_feature=record.KRaftVersionFeature(
            min_supported_version=voter.kraft_versions.min,
            max_supported_version=voter.kraft_versions.max,
        ),
    )


def _voter(entry: record.Voter) -> Voter:
    feature = entry.kraft_version_feature
    return Voter(
        ReplicaKey(entry.voter_id, entry.voter_directory_id),
        tuple(RaftEndpoint(one.name.upper(), one.host, one.port) for one in entry.endpoints),
        VersionRange(feature.min_supported_version, feature.max_supported_version),
    )
