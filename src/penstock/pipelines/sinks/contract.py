"""What a sink is to the runner: something that starts one streaming query for one output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipelines.run.settings import RunSettings


class Sink(Protocol):
    def start(
        self,
        frame: DataFrame,
        *,
        pipeline: str,
        output: str,
        checkpoint: str,
        settings: RunSettings,
        trigger: Mapping[str, Any],
    ) -> StreamingQuery:
        """`trigger` as for Spark's `trigger()`; empty for batch after batch.

        Called again with the same arguments after a failure: it goes on from the checkpoint.
        """
