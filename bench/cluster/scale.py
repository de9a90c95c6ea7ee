"""How much each case does on a cluster; the shape is that of the cases of one node."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bench.case import scale

Scale = scale.Scale

FULL: Final = replace(
    scale.FULL, native_records={100: 2_000_000, 1024: 400_000}, latency_records=3_000
)
QUICK: Final = replace(scale.QUICK, partitions=300)
