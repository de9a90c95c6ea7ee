"""Where a pipeline's rows go, each batch of them once however often it is replayed."""

from penstock.pipelines.sinks.contract import Sink, Trigger
from penstock.pipelines.sinks.database import DatabaseSink, database
from penstock.pipelines.sinks.delta import DeltaSink, delta
from penstock.pipelines.sinks.elasticsearch import ElasticsearchSink, elasticsearch
from penstock.pipelines.sinks.http import HttpSink, http
from penstock.pipelines.sinks.iceberg import IcebergSink, iceberg
from penstock.pipelines.sinks.jdbc import JdbcSink, jdbc
from penstock.pipelines.sinks.parquet import ParquetSink, parquet
from penstock.pipelines.sinks.topic import TopicSink, topic

__all__ = [
    "DatabaseSink",
    "DeltaSink",
    "ElasticsearchSink",
    "HttpSink",
    "IcebergSink",
    "JdbcSink",
    "ParquetSink",
    "Sink",
    "TopicSink",
    "Trigger",
    "database",
    "delta",
    "elasticsearch",
    "http",
    "iceberg",
    "jdbc",
    "parquet",
    "topic",
]
