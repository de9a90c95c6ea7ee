"""The quorum-state file: who leads the metadata log, in which epoch.

Written before a new epoch is used, so that no epoch is used twice, not even after a crash.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, replace
from typing import Any

from penstock.model.error import StorageError
from penstock.model.id import ZERO_ID, id_to_str
from penstock.storage.damage import DamagedFile, put_aside, read_small
from penstock.storage.disk import Disk, replace_file

_logger = logging.getLogger(__name__)

FILE_NAME = "quorum-state"
_EPOCH_MAX = (1 << 31) - 2


@dataclass(frozen=True, slots=True)
class QuorumState:
    leader_id: int = -1
    leader_epoch: int = 0
    data_version: int = 0
    """0 while voters are fixed by configuration, 1 once the log itself names them (KIP-853)."""

    def lead(self, node_id: int, epoch: int) -> QuorumState:
        return replace(self, leader_id=node_id, leader_epoch=epoch)

    def encode(self) -> bytes:
        fields: dict[str, Any] = {"leaderId": self.leader_id, "leaderEpoch": self.leader_epoch}
        fields["votedId"] = -1
        if self.data_version == 0:
            voters = [{"voterId": self.leader_id}]
            fields = {"clusterId": "", **fields, "appliedOffset": 0, "currentVoters": voters}
        else:
            fields["votedDirectoryId"] = id_to_str(ZERO_ID)
        fields["data_version"] = self.data_version
        return json.dumps(fields, separators=(",", ":")).encode()


def read_quorum_state(disk: Disk, directory: str) -> QuorumState | None:
    """None also for a file that is damaged: the log names the last epoch that was written in, and
    a voter that is alone has told nobody of any other."""
    path = f"{directory}/{FILE_NAME}"
    try:
        fields = json.loads(read_small(disk, path))
        epoch = int(fields["leaderEpoch"])
        if not 0 <= epoch <= _EPOCH_MAX:
            raise ValueError(f"leader epoch {epoch}")
        return QuorumState(int(fields["leaderId"]), epoch, int(fields["data_version"]))
    except FileNotFoundError:
        return None
    except (DamagedFile, ValueError, KeyError, TypeError, RecursionError) as error:
        kept = put_aside(disk, path)
        _logger.warning("%s is damaged (%s): kept as %s, and begun anew", path, error, kept)
        return None


def write_quorum_state(disk: Disk, directory: str, state: QuorumState) -> None:
    path = f"{directory}/{FILE_NAME}"
    try:
        replace_file(disk, path, state.encode())
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error}") from error
