"""Where a pipeline's rows go, each batch of them once however often it is replayed."""

from penstock.pipelines.sinks.contract import Sink, Trigger
from penstock.pipelines.sinks.database import DatabaseSink, database
from penstock.pipelines.sinks.delta import DeltaSink, delta
from penstock.pipelines.sinks.iceberg import IcebergSink, iceberg
from penstock.pipelines.sinks.parquet import ParquetSink, parquet
from penstock.pipelines.sinks.topic import TopicSink, topic

__all__ = [
    "DatabaseSink",
    "DeltaSink",
    "IcebergSink",
    "ParquetSink",
    "Sink",
    "TopicSink",
    "Trigger",
    "database",
    "delta",
    "iceberg",
    "parquet",
    "topic",
]
