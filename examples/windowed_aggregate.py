"""Page views per hour: repeated events count once, closed hours are final, late ones are kept."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.pipelines import decode, pipeline, sinks, sources

VIEWS = "id string NOT NULL, page string NOT NULL, at timestamp NOT NULL"


@pipeline(
    inputs={
        "views": sources.topic(
            "views", decode=decode.json(VIEWS), event_time="at", lateness="10 minutes"
        )
    },
    outputs={"hours": sinks.topic("views-per-hour")},
)
def views_per_hour(views: DataFrame) -> DataFrame:
    once = views.dropDuplicatesWithinWatermark(["id"])
    hours = once.groupBy(F.window("at", "1 hour"), "page").count()
    return hours.selectExpr("page AS key", "to_json(struct(window.start AS hour, count)) AS value")
