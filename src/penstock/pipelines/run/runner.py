"""What can be run and what is running: the two faces every kind of pipeline has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipelines.run.progress import Progress
    from penstock.pipelines.run_settings import RunSettings


class Running(Protocol):
    @property
    def queries(self) -> Sequence[StreamingQuery]: ...

    def stop(self) -> None:
        """End gracefully, at a batch boundary; returns when everything is committed."""

    def wait(self, timeout_s: float | None = None) -> bool:
        """Whether it has ended by itself; raises what it failed with."""

    def progress(self) -> Progress: ...


@runtime_checkable
class Runnable(Protocol):
    @property
    def name(self) -> str: ...

    def beside(self, name: str | None = None, outputs: Mapping[str, str] | None = None) -> Runnable:
        """The same under another name, or with outputs that go elsewhere."""

    def start(self, spark: SparkSession, settings: RunSettings) -> Running: ...
