"""How the producers of a topic choose partitions, by where its keys are. Pure.

The copy of a key has to be where producers will put its next record: both then are in one
partition, and in order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from penstock.cli.failure import Failure
from penstock.pipelines.keyed.partitioner import crc32, murmur2

PARTITIONERS: Final = {"murmur2": murmur2, "crc32": crc32}
LIBRDKAFKA: Final = {"murmur2": "murmur2_random", "crc32": "consistent_random"}
"""What librdkafka calls them."""
_MEANT = "murmur2 (Java's producer) or crc32 (librdkafka's, and clients on it)"


def find_partitioner(topic: str, keys: Iterable[tuple[int, bytes]], partitions: int) -> str:
    """`keys` with the partition that each was found in."""
    placed = set(keys)
    if not placed:
        # Without keys nothing depends on it.
        return "murmur2"
    fitting = [
        name
        for name, place in PARTITIONERS.items()
        if all(place(key, partitions) == partition for partition, key in placed)
    ]
    if not fitting:
        raise Failure(
            f"the keys of {topic} are not where {_MEANT} would put them; with a partitioner of "
            "your own, or after partitions were added, say --partitioner as producers will have it"
        )
    if len(fitting) > 1:
        raise Failure(
            f"the keys of {topic} do not tell how its producers choose partitions; say "
            f"--partitioner: {_MEANT}"
        )
    return fitting[0]
