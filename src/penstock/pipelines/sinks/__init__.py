"""Where a pipeline's rows go, each batch of them once however often it is replayed."""

from penstock.pipelines.sinks.contract import Sink, Trigger
from penstock.pipelines.sinks.database import DatabaseSink, database
from penstock.pipelines.sinks.topic import TopicSink, topic

__all__ = ["DatabaseSink", "Sink", "TopicSink", "Trigger", "database", "topic"]
