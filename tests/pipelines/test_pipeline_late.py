"""Event time: rows behind the declared bound are counted and kept, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from penstock.pipelines import decode, pipeline, sinks, sources
from penstock.pipelines.transforms import dead_letter, late


@pipeline(
    inputs={
        "clicks": sources.topic(
            "clicks",
            decode=decode.json("page string, at timestamp"),
            event_time="at",
            lateness="10 minutes",
        )
    },
    outputs={"counts": sinks.topic("counts", mode="update")},
)
def clicks_per_hour(clicks: Any) -> Any:
    from pyspark.sql import functions as F

    counts = clicks.groupBy(F.window("at", "1 hour"), "page").count()
    return counts.selectExpr("page AS key", "to_json(struct(window.start, count)) AS value")


def click(page: str, at: str) -> str:
    return json.dumps({"page": page, "at": f"2026-01-01T{at}Z"})


def test_late_rows_are_kept_and_others_counted(
    penstock: Any, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("clicks")
    penstock.produce("clicks", [click("a", "10:00:00"), click("a", "12:05:00")])
    first = pipeline_run(clicks_per_hour)
    # The watermark is 11:55 now, and holds from the batch after the next on.
    penstock.produce("clicks", [click("a", "12:06:00")])
    pipeline_run(clicks_per_hour)
    penstock.produce("clicks", [click("a", "10:30:00"), click("a", "11:50:00"), "{"], key="k")
    third = pipeline_run(clicks_per_hour)
    assert (first.late, third.late, third.dead_letters) == (0, 2, 1)
    kept = penstock.read("clicks-per-hour.late")
    assert [json.loads(each.value)["at"][11:16] for each in kept] == ["10:30", "11:50"]
    said = dict(kept[0].headers)
    assert said[dead_letter.TOPIC] == b"clicks"
    assert said[late.EVENT_TIME] == b"1767263400000"
    assert said[late.WATERMARK] == b"1767268500000"
    assert said[late.OUTPUT] == b"counts"
    # The window that was closed took nothing; the one still open took the row in as well.
    counted = [json.loads(each.value) for each in penstock.read("counts")]
    assert [each["count"] for each in counted if each["start"].startswith("2026-01-01T10")] == [1]
    assert [each["count"] for each in counted if each["start"].startswith("2026-01-01T11")] == [1]
