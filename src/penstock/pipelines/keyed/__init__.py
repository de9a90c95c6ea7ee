"""Keyed pipelines: a decision for each event from the state of its key, in plain Python, fast.

Spark reads the source topic and gives each worker its rows; a lane per source partition holds the
states of that partition and writes outputs, changed states and its position in one transaction.
"""

from penstock.pipelines.keyed.declare import KeyedPipeline, keyed
from penstock.pipelines.keyed.event import Event

__all__ = ["Event", "KeyedPipeline", "keyed"]
