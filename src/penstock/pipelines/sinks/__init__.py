"""Where a pipeline's rows go, each batch of them once however often it is replayed."""

from penstock.pipelines.sinks.contract import Sink, Trigger
from penstock.pipelines.sinks.topic import TopicSink, topic

__all__ = ["Sink", "TopicSink", "Trigger", "topic"]
