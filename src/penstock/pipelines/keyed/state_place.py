"""Which of the two places has the states of a pipeline: a start in the other one is refused.

There they would be missing, and events be judged a second time, as if nothing had been before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.pipelines.error import RunError
from penstock.pipelines.folder import Folder
from penstock.pipelines.kafka import admin, partition_count
from penstock.pipelines.keyed.preparation import positions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.pipelines.keyed.declare import KeyedPipeline
    from penstock.pipelines.run_settings import RunSettings

CHECKPOINT = "state"
"""The folder of the checkpoint with the states, below the pipeline's own."""


def require_states_here(
    pipeline: KeyedPipeline, spark: SparkSession, settings: RunSettings
) -> None:
    home = Folder(spark, settings.checkpoint_home(pipeline.name))
    in_spark = home.exists(f"{CHECKPOINT}/offsets")
    if pipeline.state_in == "topic" and in_spark:
        raise RunError(
            f"{pipeline.name} has its states in Spark's store, in {home.path(CHECKPOINT)}: start"
            " it with --state spark, or remove that folder to begin without states"
        )
    if pipeline.state_in == "spark" and not in_spark and _has_states_in_topic(pipeline, settings):
        raise RunError(
            f"{pipeline.name} has its states in the topic {pipeline.state}: start it with --state"
            " topic, or delete that topic to begin without states"
        )


def _has_states_in_topic(pipeline: KeyedPipeline, settings: RunSettings) -> bool:
    count = partition_count(admin(settings.client()), pipeline.state)
    return bool(count and positions(pipeline, settings, count))
