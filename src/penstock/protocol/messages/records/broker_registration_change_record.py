"""BrokerRegistrationChangeRecord (number 17). Written by tools/generate_protocol.py.

Versions 0-3.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class BrokerRegistrationChangeRecord(Entity):
    __slots__ = (
        "broker_epoch",
        "broker_id",
        "cordoned_log_dirs",
        "fenced",
        "in_controlled_shutdown",
        "log_dirs",
    )
    NAME = "BrokerRegistrationChangeRecord"
    VERSIONS = (0, 3)
    FLEXIBLE = 0
    API_KEY = 17
    SCHEMA = (
        Field("broker_id", "int32", (0, 3)),
        Field("broker_epoch", "int64", (0, 3)),
        Field("fenced", "int8", (0, 3), tag=0, tagged=(0, 3)),
        Field("in_controlled_shutdown", "int8", (1, 3), tag=1, tagged=(1, 3)),
        Field("log_dirs", "uuid", (2, 3), array=True, tag=2, tagged=(2, 3)),
        Field(
            "cordoned_log_dirs",
            "uuid",
            (3, 3),
            array=True,
            nullable=(3, 3),
            tag=3,
            tagged=(3, 3),
            default=None,
        ),
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = 0,
        fenced: int = 0,
        in_controlled_shutdown: int = 0,
        log_dirs: Iterable[bytes] = (),
        cordoned_log_dirs: Iterable[bytes] | None = None,
    ) -> None:
        self.broker_id: int = broker_id
        self.broker_epoch: int = broker_epoch
        self.fenced: int = fenced
        self.in_controlled_shutdown: int = in_controlled_shutdown
        self.log_dirs: list[bytes] = log_dirs if isinstance(log_dirs, list) else list(log_dirs)
        self.cordoned_log_dirs: list[bytes] | None = (
            cordoned_log_dirs
            if cordoned_log_dirs is None or isinstance(cordoned_log_dirs, list)
            else list(cordoned_log_dirs)
        )
