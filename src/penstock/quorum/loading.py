"""What a metadata directory says at start: the newest whole snapshot, the voters, the last vote."""

from __future__ import annotations

import logging
from typing import NamedTuple

from penstock.model.error import StorageError
from penstock.model.id import ZERO_ID
from penstock.quorum.control_record import decode_entry, read_entries
from penstock.quorum.metadata_batch import Control
from penstock.quorum.metadata_log import MetadataLog
from penstock.quorum.metadata_snapshot import BOOTSTRAP_ID, Snapshot
from penstock.quorum.quorum_state import NOBODY, QuorumState, read_quorum_state
from penstock.raft import ControlEntry, ElectionState, ReplicaKey, SnapshotId, VoterHistory
from penstock.raft.voter import VoterSet

_logger = logging.getLogger(__name__)


class Loaded(NamedTuple):
    snapshot_id: SnapshotId | None
    snapshot: Snapshot | None
    history: VoterHistory


def load(log: MetadataLog, configured: VoterSet) -> Loaded:
    """StorageError if what the log begins behind is nowhere to be read."""
    snapshot_id, snapshot = _newest_snapshot(log)
    history = VoterHistory(configured)
    covered = 0
    if snapshot_id is not None and snapshot is not None:
        covered = snapshot_id.end_offset
        if snapshot_id != BOOTSTRAP_ID:
            log.open_behind(snapshot_id)
        history.add(snapshot_entries(snapshot_id, snapshot.controls))
    for header, batch in log.batches(max(covered, log.start_offset), log.end_offset):
        history.add(read_entries(header, batch))
    return Loaded(snapshot_id, snapshot, history)


def _newest_snapshot(log: MetadataLog) -> tuple[SnapshotId | None, Snapshot | None]:
    """One that is damaged is done without, as long as the log still has what it held."""
    snapshot_id, snapshot = None, None
    damaged: list[tuple[SnapshotId, StorageError]] = []
    for snapshot_id in reversed(log.snapshots.ids):
        try:
            snapshot = log.snapshots.read(snapshot_id)
            break
        except StorageError as error:
            damaged.append((snapshot_id, error))
    covered = 0 if snapshot is None or snapshot_id is None else snapshot_id.end_offset
    if log.start_offset > covered:
        raise StorageError(
            f"the metadata log in {log.log.directory} begins at offset {log.start_offset}, and no "
            "snapshot (*.checkpoint) that can be read holds what was before: put a copy of the "
            f"snapshot back{''.join(f' ({why})' for _, why in damaged)}"
        )
    for unread, why in damaged:
        kept = log.snapshots.put_aside(unread)
        _logger.warning("%s: kept as %s, and done without", why, kept)
    return (None, None) if snapshot is None else (snapshot_id, snapshot)


def sole_voter(log: MetadataLog, history: VoterHistory, key: ReplicaKey) -> ReplicaKey:
    """As which voter a node that is alone leads. Its directory may have been given a new id since
    the log named it: there is nobody else whom it could be mistaken for."""
    voters = history.voters.voters
    if [voter.key.id for voter in voters] != [key.id]:
        named = ", ".join(str(voter.key.id) for voter in voters)
        raise StorageError(
            f"the metadata log in {log.log.directory} has the voters {named}, and this node is "
            f"{key.id}: it cannot lead alone. Start it as a node of that cluster, or with another "
            "data directory"
        )
    named_key = voters[0].key
    return named_key if named_key.directory_id != ZERO_ID else key


def snapshot_entries(snapshot_id: SnapshotId, controls: list[Control]) -> list[ControlEntry]:
    """All of it was said somewhere before the snapshot's end."""
    entries = (decode_entry(snapshot_id.end_offset - 1, *control) for control in controls)
    return [entry for entry in entries if entry is not None]


def read_election(log: MetadataLog, *, replaceable: bool) -> ElectionState:
    state = read_quorum_state(log.log.disk, log.log.directory, replaceable=replaceable)
    if state is None:
        return ElectionState()
    leader_id = None if state.leader_id == NOBODY else state.leader_id
    voted = None
    if state.voted_id != NOBODY:
        voted = ReplicaKey(state.voted_id, state.voted_directory_id)
    return ElectionState(state.leader_epoch, leader_id, voted)


def quorum_state_of(election: ElectionState, history: VoterHistory) -> QuorumState:
    voted = election.voted or ReplicaKey(NOBODY)
    return QuorumState(
        leader_id=NOBODY if election.leader_id is None else election.leader_id,
        leader_epoch=election.epoch,
        voted_id=voted.id,
        voted_directory_id=voted.directory_id,
        voters=history.voters.ids,
        data_version=1 if history.kraft_version > 0 else 0,
    )
