"""What a run is given: the broker, the directory, Spark's master, and passed-through settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from penstock.pipelines.breaker import Breaker
from penstock.pipelines.error import RunError
from penstock.pipelines.folder import as_uri, has_scheme
from penstock.pipelines.security import java_settings


@dataclass(frozen=True, slots=True)
class RunSettings:
    bootstrap_servers: str = "127.0.0.1:9092"
    directory: Path = Path("penstock-pipelines")
    """Of this machine: lock and status of every pipeline, each under its own name."""
    checkpoints: str | None = None
    """Where checkpoints go, a URI such as s3a://bucket/pipelines; None: to `directory`."""
    master: str | None = None
    """What to start where no session runs yet; None: `local[*]`. A session has its own."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Spark settings, over those of `session()`."""
    starting: str = "earliest"
    """Where a first run begins: earliest, latest, offsets as JSON in Spark's form, a time such as
    2026-01-31T12:00:00 (UTC unless it says otherwise), or how long ago, such as -2h."""
    ending: str | None = None
    """Where the run ends, said in the same ways; None: it goes on."""
    after: str | None = None
    """A bounded run: this one begins where that ends."""
    before: str | None = None
    """A run beside this one, which ends where that began."""
    from_group: bool = False
    """Begin where the consumer group stands, rather than where the pipeline's own position is."""
    metrics_port: int | None = None
    metrics_host: str = "127.0.0.1"
    spark_log: str | None = None
    """The level of Spark's log on standard error, as Spark names it; None: nothing."""
    py_files: Sequence[str] = ()
    """Python code that executors need besides what was loaded here: .py, .zip, .egg."""
    kafka: Mapping[str, str] = field(default_factory=dict)
    """Client settings for every connection, as librdkafka names them, such as for TLS and SASL."""
    trigger: Mapping[str, Any] = field(default_factory=dict)
    """As for Spark's `trigger()`: {} runs batch after batch, {"availableNow": True} ends."""
    breaker_share: float | None = None
    """Instead of the share of the pipeline's own breaker; 1 never stops it."""
    retries_max: int = 8
    """Restarts in a row after transient failures before giving up."""
    retry_backoff_s: float = 0.5

    def __post_init__(self) -> None:
        if has_scheme(str(self.directory)):
            raise RunError(
                f"lock and status need a folder of this machine, not {self.directory}:"
                " give the URI as --checkpoints, or as RunSettings(checkpoints=…)"
            )

    def home(self, pipeline: str) -> Path:
        """For what belongs to this machine: the lock, and what the run says of itself."""
        return Path(self.directory) / pipeline

    def store(self) -> str:
        """The URI below which checkpoints are, and tables that were given no place."""
        return as_uri(self.directory if self.checkpoints is None else self.checkpoints)

    def checkpoint_home(self, pipeline: str) -> str:
        return f"{self.store()}/{pipeline}"

    def breaker(self, declared: Breaker) -> Breaker:
        if self.breaker_share is None:
            return declared
        return replace(declared, share=self.breaker_share)

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
