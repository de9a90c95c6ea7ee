"""WriteTxnMarkers: the end of a transaction, from its coordinator or from an admin who ends one
that hangs."""

from __future__ import annotations

from penstock.coordinator.marker import answer_code
from penstock.coordinator.marker_form import markers_response, requested_markers
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.protocol.messages.write_txn_markers import (
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)


def handle(broker: Broker, request: WriteTxnMarkersRequest, call: Call) -> Answer:
    return _write(broker, request)


async def _write(broker: Broker, request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
    asked = requested_markers(request)
    results = await broker.transaction_peers.markers.write_all(asked)
    return markers_response(
        (marker.producer_id, {key: answer_code(code) for key, code in result.items()})
        for (marker, _), result in zip(asked, results, strict=True)
    )
