"""A producer within its means beside one that sends five times its quota."""

from __future__ import annotations

from bench.case.scale import Scale
from bench.load.child import Load, run_load
from bench.peer import Peer
from penstock.cli.wire_call import call
from penstock.cli.wire_security import connector
from penstock.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    OpData,
    RequestEntityData,
    RequestEntryData,
)

QUOTA_BYTES = 2_000_000
SURGE = 5
CLIENT_ID = "surge"
PAUSE_S = 0.005
"""Between two records of the one within its means."""


def neighbour(peer: Peer, scale: Scale) -> dict[str, float]:
    with peer.topic(1) as topic, peer.topic(1) as flooded:
        before = _latency(peer, topic, scale)
        _set_quota(peer, QUOTA_BYTES)
        seconds = 2 * PAUSE_S * _records(scale) + 5
        load = Load(
            "surge",
            {
                "bootstrap": peer.broker.bootstrap_servers,
                "client_id": CLIENT_ID,
                "topic": flooded,
                "rate_bytes": SURGE * QUOTA_BYTES,
                "seconds": seconds,
            },
            timeout_s=60 + 3 * seconds,
        )
        try:
            load.wait_ready()
            during = _latency(peer, topic, scale)
            flood = load.result()
        finally:
            _set_quota(peer, None)
        after = _latency(peer, topic, scale)
    return {
        "quota.p99.before": before,
        "quota.p99.during": during,
        "quota.p99.after": after,
        "quota.p99.ratio": during / before,
        "quota.wait": flood["wait_ms"],
        "quota.rate": flood["rate_bytes"] / QUOTA_BYTES,
    }


def _records(scale: Scale) -> int:
    return max(500, scale.latency_records // 2)


def _latency(peer: Peer, topic: str, scale: Scale) -> float:
    spec = {
        "bootstrap": peer.broker.bootstrap_servers,
        "topic": topic,
        "kind": "ack",
        "count": _records(scale),
        "warmup": 100,
        "pause_s": PAUSE_S,
    }
    return float(run_load("latency", spec, timeout_s=180)["p99_ms"])


def _set_quota(peer: Peer, rate_bytes: int | None) -> None:
    op = OpData(key="producer_byte_rate", value=float(rate_bytes or 0), remove=rate_bytes is None)
    entity = RequestEntityData(entity_type="client-id", entity_name=CLIENT_ID)
    request = AlterClientQuotasRequest(entries=[RequestEntryData(entity=[entity], ops=[op])])
    host, port = peer.broker.bootstrap_servers.rsplit(":", 1)
    call(connector({}, 30), host, int(port), request, AlterClientQuotasResponse)
