"""Where runs of keyed pipelines began, for bounded runs beside them (`run.bound` asks).

With states in a topic the checkpoint is scratch, so the first offsets are kept in a document beside
it; with states in Spark's store the checkpoint itself tells them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.pipelines.folder import Document, Folder
from penstock.pipelines.keyed.preparation import positions
from penstock.pipelines.keyed.state_place import CHECKPOINT
from penstock.pipelines.run.batch_log import BatchLog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.pipelines.keyed.declare import KeyedPipeline
    from penstock.pipelines.run.place import Offsets
    from penstock.pipelines.run_settings import RunSettings

_BEGUN = "begun"


@dataclass(frozen=True, slots=True)
class KeyedHistory:
    pipeline: KeyedPipeline
    spark: SparkSession
    settings: RunSettings
    partitions: int

    def has_run(self) -> bool:
        return bool(positions(self.pipeline, self.settings, self.partitions))

    def start_of(self, name: str) -> Offsets:
        home = self._home(name)
        said = Document(home, _BEGUN).read()
        if said is None:
            return BatchLog(self.spark, home.path(CHECKPOINT)).begun()
        topic = str(said["topic"])
        return {(topic, int(each)): int(at) for each, at in said["offsets"].items()}

    def begin(self, starts: Mapping[int, int]) -> None:
        """Of a run without states: this is where it begins."""
        offsets = {str(each): at for each, at in starts.items()}
        document = {"topic": self.pipeline.topic, "offsets": offsets}
        Document(self._home(self.pipeline.name), _BEGUN).write(document)

    def _home(self, name: str) -> Folder:
        return Folder(self.spark, self.settings.checkpoint_home(name))
