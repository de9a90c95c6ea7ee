"""Data pipelines on Spark Structured Streaming: topics in, decisions out, nothing lost or doubled.

A pipeline speaks the Kafka protocol and nothing else, so it runs against Apache Kafka as well.
"""
