"""Keyed pipelines: a decision for each event from the state of its key, in plain Python.

Spark's Kafka source reads the source topic, and Spark's tasks hand the rows to the step. A lane for
each source partition holds the states of that partition, and writes outputs, changed states and
its position in one transaction.
"""

from penstock.pipelines.keyed.declare import KeyedPipeline, keyed
from penstock.pipelines.keyed.event import Event
from penstock.pipelines.keyed.sink_output import SinkOutput, into

__all__ = ["Event", "KeyedPipeline", "SinkOutput", "into", "keyed"]
