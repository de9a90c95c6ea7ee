"""The quorum-state file: the epoch of the metadata log, who leads it, and whom this node voted for.

Written and synced before an epoch is used or a vote is given, so that neither is used twice, not
even after a crash. Decides nothing: what stands in it is raft's affair.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import Any

from penstock.model.error import StorageError
from penstock.model.id import ZERO_ID, id_from_str, id_to_str
from penstock.storage.damage import DamagedFile, put_aside, read_small
from penstock.storage.disk import Disk, replace_file

_logger = logging.getLogger(__name__)

FILE_NAME = "quorum-state"
NOBODY = -1
_EPOCH_MAX = (1 << 31) - 2


@dataclass(frozen=True, slots=True)
class QuorumState:
    """What must survive a crash of this node."""

    leader_id: int = NOBODY
    leader_epoch: int = 0
    voted_id: int = NOBODY
    voted_directory_id: bytes = ZERO_ID
    voters: tuple[int, ...] = ()
    """Only in version 0, for whoever reads the file: nobody decides by them."""
    data_version: int = 0
    """0 while voters are fixed by configuration, 1 once the log itself names them (KIP-853)."""

    def encode(self) -> bytes:
        fields: dict[str, Any] = {"leaderId": self.leader_id, "leaderEpoch": self.leader_epoch}
        fields["votedId"] = self.voted_id
        if self.data_version == 0:
            voters = [{"voterId": voter} for voter in self.voters]
            fields = {"clusterId": "", **fields, "appliedOffset": 0, "currentVoters": voters}
        else:
            fields["votedDirectoryId"] = id_to_str(self.voted_directory_id)
        fields["data_version"] = self.data_version
        return json.dumps(fields, separators=(",", ":")).encode()

    @classmethod
    def decode(cls, data: bytes) -> QuorumState:
        fields = json.loads(data)
        epoch = int(fields["leaderEpoch"])
        if not 0 <= epoch <= _EPOCH_MAX:
            raise ValueError(f"leader epoch {epoch}")
        directory = fields.get("votedDirectoryId")
        return cls(
            leader_id=int(fields["leaderId"]),
            leader_epoch=epoch,
            voted_id=int(fields.get("votedId", NOBODY)),
            voted_directory_id=ZERO_ID if directory is None else id_from_str(directory),
            voters=tuple(int(one["voterId"]) for one in fields.get("currentVoters") or ()),
            data_version=int(fields["data_version"]),
        )


def read_quorum_state(disk: Disk, directory: str, *, replaceable: bool) -> QuorumState | None:
    """None if there is none. A damaged file is begun anew where it is `replaceable`: the log names
    the last epoch that was written in, and a voter that is alone, or a node that never votes, has
    told nobody of any other. Elsewhere a forgotten vote could be given twice: StorageError.
    """
    path = f"{directory}/{FILE_NAME}"
    try:
        state = QuorumState.decode(read_small(disk, path))
    except FileNotFoundError:
        return None
    except (DamagedFile, ValueError, KeyError, TypeError, RecursionError) as error:
        if not replaceable:
            raise StorageError(
                f"{path} is damaged ({error}). It says whom this node voted for: put a copy back, "
                "or let the node join anew with an empty directory"
            ) from error
        kept = put_aside(disk, path)
        _logger.warning("%s is damaged (%s): kept as %s, and begun anew", path, error, kept)
        return None
    if state.data_version not in (0, 1):
        raise StorageError(f"{path} is of version {state.data_version}, of a newer release perhaps")
    return state


def write_quorum_state(disk: Disk, directory: str, state: QuorumState) -> None:
    path = f"{directory}/{FILE_NAME}"
    try:
        replace_file(disk, path, state.encode())
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error}") from error
