"""The file that says that the last stop was orderly, so that nothing has to be recovered.

A marker that is damaged counts as none: a recovery too many costs time, one too few may cost data.
"""

from __future__ import annotations

import json
import logging

from penstock.storage import names
from penstock.storage.damage import DamagedFile, put_aside, read_small
from penstock.storage.disk import Disk, replace_file

_logger = logging.getLogger(__name__)


def note_clean(disk: Disk, directory: str, broker_epoch: int) -> None:
    data = json.dumps({"version": 0, "brokerEpoch": broker_epoch}).encode()
    replace_file(disk, f"{directory}/{names.CLEAN_SHUTDOWN}", data)


def take_clean(disk: Disk, directory: str) -> int | None:
    """The broker epoch of the life that ended so, -1 if it does not say; None after a crash. The
    marker is gone afterwards, for good."""
    path = f"{directory}/{names.CLEAN_SHUTDOWN}"
    try:
        data = read_small(disk, path)
        # Kafka before 3.7 left it empty.
        broker_epoch = int(json.loads(data).get("brokerEpoch", -1)) if data else -1
    except FileNotFoundError:
        return None
    except (DamagedFile, ValueError, AttributeError, TypeError) as damage:
        put_aside(disk, path)
        _logger.warning("%s is damaged, all logs are recovered: %s", path, damage)
        return None
    disk.unlink(path)
    disk.fsync_dir(directory)
    return broker_epoch
