"""Outputs of a keyed pipeline that end in a sink of rows: a table, a lake, a service.

A table cannot be part of a Kafka transaction. So such an output is written to a topic of its own
first, together with the states and the position, and from there by a DataFrame pipeline to the
sink. Whatever is killed, the topic holds each record once, and every attempt at a batch of it
reads the same rows: all that the sinks ask for to write a batch once. Here is the declaration;
`sink_pipeline` makes that pipeline of it, and `sink_run` runs it beside the keyed one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from penstock.pipelines.sinks.contract import Sink
    from penstock.pipelines.transforms.decoder import Decoder

    Shape = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True, slots=True)
class SinkOutput:
    sink: Sink
    decode: Decoder
    """Makes rows of the values that the step writes."""
    rows: Shape | None = None
    """What the sink gets of the decoded rows; None: their fields."""
    topic: str | None = None
    """On the way to the sink; None: named after the pipeline and the output."""


def into(
    sink: Sink, *, decode: Decoder, rows: Shape | None = None, topic: str | None = None
) -> SinkOutput:
    """An output whose values become rows of a sink, such as `into(sinks.delta(), decode=…)`."""
    return SinkOutput(sink, decode, rows, topic)


def sink_topic(pipeline: str, output: str) -> str:
    return f"{pipeline}.{output}"
