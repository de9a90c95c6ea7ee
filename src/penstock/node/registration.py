"""What a broker says of itself when it asks to be let in."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.controller.config import SUPPORTED_FEATURES
from penstock.metadata.broker import Endpoint
from penstock.node.identity import Identity
from penstock.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)


def registration_of(
    identity: Identity,
    endpoints: Iterable[Endpoint],
    rack: str | None,
    incarnation_id: bytes,
    directory_ids: Iterable[bytes],
    previous_epoch: int,
) -> BrokerRegistrationRequest:
    return BrokerRegistrationRequest(
        broker_id=identity.node_id,
        cluster_id=identity.cluster_id,
        incarnation_id=incarnation_id,
        listeners=[
            Listener(
                name=each.name,
                host=each.host,
                port=each.port,
                security_protocol=each.security_protocol,
            )
            for each in endpoints
        ],
        features=[
            Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in SUPPORTED_FEATURES.items()
        ],
        rack=rack,
        log_dirs=directory_ids,
        previous_broker_epoch=previous_epoch,
    )
