"""A node with fencing switched off: who commits offsets in a transaction is believed, whatever its
generation of the group. Only for the test that has to notice."""

from __future__ import annotations

import sys

from penstock.cli.main import main
from penstock.group.offset.coordinator import OffsetCoordinator
from penstock.model.error import ErrorCode
from penstock.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest


def believe(_: OffsetCoordinator, __: TxnOffsetCommitRequest) -> ErrorCode | None:
    return None


if __name__ == "__main__":
    OffsetCoordinator._txn_commit_error = believe  # type: ignore[method-assign]
    sys.exit(main())
