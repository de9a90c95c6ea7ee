"""Load process: single small requests on one connection, each naming one partition."""

from __future__ import annotations

import time

from bench.load.child import Spec, serve
from tools import wire


def request(spec: Spec) -> Spec:
    """Rounds of one Produce, one Fetch of what it wrote, one Metadata."""
    topic: str = spec["topic"]
    batch = wire.encode_batch([b"x" * 100], int(time.time() * 1_000))
    produce = wire.produce_body(topic, 0, batch)
    metadata = wire.metadata_body(topic)
    with wire.Connection(spec["port"]) as connection:
        for _ in range(spec["rounds"]):
            answer = wire.decode_produced(connection.call(wire.PRODUCE, produce))
            if answer.error:
                raise RuntimeError(f"produce failed with error code {answer.error}")
            fetch = wire.fetch_body([(topic, 0, answer.base_offset)], max_wait_ms=500)
            connection.call(wire.FETCH, fetch)
            connection.call(wire.METADATA, metadata)
    return {"requests": 3 * spec["rounds"]}


if __name__ == "__main__":
    serve(request)
