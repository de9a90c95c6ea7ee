"""What a run is given: the broker, the directory, Spark's master, and passed-through settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.pipelines.security import java_settings


@dataclass(frozen=True, slots=True)
class RunSettings:
    bootstrap_servers: str = "127.0.0.1:9092"
    directory: Path = Path("penstock-pipelines")
    """Checkpoints, lock and status of every pipeline, each under its own name."""
    master: str = "local[*]"
    options: Mapping[str, str] = field(default_factory=dict)
    """Spark settings, over those of `session()`."""
    starting: str = "earliest"
    """Where a first run begins: earliest, latest, or offsets as JSON in Spark's form."""
    from_group: bool = False
    """Begin where the consumer group stands, rather than where the pipeline's own position is."""
    metrics_port: int | None = None
    kafka: Mapping[str, str] = field(default_factory=dict)
    """Client settings for every connection, as librdkafka names them, such as for TLS and SASL."""
    trigger: Mapping[str, Any] = field(default_factory=dict)
    """As for Spark's `trigger()`: {} runs batch after batch, {"availableNow": True} ends."""
    retries_max: int = 8
    """Restarts in a row after transient failures before giving up."""
    retry_backoff_s: float = 0.5

    def home(self, pipeline: str) -> Path:
        return Path(self.directory) / pipeline

    def spark_kafka(self) -> dict[str, str]:
        """Options of Spark's Kafka source and sink."""
        return {
            "kafka.bootstrap.servers": self.bootstrap_servers,
            **{f"kafka.{key}": value for key, value in java_settings(self.kafka).items()},
        }

    def client(self, **settings: Any) -> dict[str, Any]:
        """Settings of a confluent-kafka client; underscores in names stand for dots."""
        own = {
            key if key.endswith("_cb") else key.replace("_", "."): value
            for key, value in settings.items()
        }
        return {"bootstrap.servers": self.bootstrap_servers, **self.kafka, **own}
