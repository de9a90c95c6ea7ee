"""A registered broker: where it listens, in which life, and whether it may lead."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from penstock.protocol.messages.records.broker_registration_change_record import (
        BrokerRegistrationChangeRecord,
    )
    from penstock.protocol.messages.records.register_broker_record import RegisterBrokerRecord


class Endpoint(NamedTuple):
    name: str
    host: str
    port: int
    security_protocol: int = 0


class FeatureRange(NamedTuple):
    name: str
    min_level: int
    max_level: int


@dataclass(frozen=True, slots=True)
class BrokerImage:
    """As of its last registration and what has changed since."""

    id: int
    epoch: int
    incarnation_id: bytes
    endpoints: tuple[Endpoint, ...]
    features: tuple[FeatureRange, ...] = ()
    rack: str | None = None
    fenced: bool = True
    in_controlled_shutdown: bool = False
    log_dirs: tuple[bytes, ...] = ()
    cordoned_log_dirs: tuple[bytes, ...] | None = None

    @property
    def is_active(self) -> bool:
        return not self.fenced and not self.in_controlled_shutdown

    def endpoint(self, listener: str) -> Endpoint | None:
        for point in self.endpoints:
            if point.name == listener:
                return point
        return None

    @classmethod
    def of(cls, record: RegisterBrokerRecord) -> BrokerImage:
        cordoned = record.cordoned_log_dirs
        return cls(
            id=record.broker_id,
            epoch=record.broker_epoch,
            incarnation_id=record.incarnation_id,
            endpoints=tuple(
                Endpoint(point.name, point.host, point.port, point.security_protocol)
                for point in record.end_points
            ),
            features=tuple(
                sorted(
                    FeatureRange(one.name, one.min_supported_version, one.max_supported_version)
                    for one in record.features
                )
            ),
            rack=record.rack,
            fenced=record.fenced,
            in_controlled_shutdown=record.in_controlled_shutdown,
            log_dirs=tuple(record.log_dirs or ()),
            cordoned_log_dirs=None if cordoned is None else tuple(cordoned),
        )

    def with_fenced(self, fenced: bool) -> BrokerImage:
        return replace(self, fenced=fenced)

    def changed(self, record: BrokerRegistrationChangeRecord) -> BrokerImage:
        cordoned = record.cordoned_log_dirs
        return replace(
            self,
            fenced=self.fenced if record.fenced == 0 else record.fenced > 0,
            in_controlled_shutdown=self.in_controlled_shutdown or record.in_controlled_shutdown > 0,
            log_dirs=tuple(record.log_dirs) if record.log_dirs else self.log_dirs,
            cordoned_log_dirs=self.cordoned_log_dirs if cordoned is None else tuple(cordoned),
        )
