"""The text of groups' metrics: what is told of how many, and that nothing stale is."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from penstock.group.offset.store import CommittedOffset
from penstock.group.view import GroupView
from penstock.model.id import TopicPartition
from penstock.node.lag import text
from penstock.node.lag.row import GroupRow

NOW_MS = 1_000_000


def group(*lags: int) -> GroupRow:
    """One partition for each, whose oldest record is as many seconds old."""
    made = GroupRow("g")
    made.view = GroupView("classic", "Empty", 0, 3)
    places = [TopicPartition("t", index) for index in range(len(lags))]
    made.take_offsets((place, CommittedOffset(10, -1, "", 500)) for place in places)
    for place, lag in zip(places, lags, strict=True):
        row = made.rows[place]
        row.end = 10 + lag
        row.learn_time(NOW_MS - 1000 * lag)
    return made


def samples(*groups: GroupRow, now_ms: int = NOW_MS) -> dict[str, list[float]]:
    written = text.GroupText(sum(len(each.rows) for each in groups))
    for each in groups:
        written.add(each, now_ms)
    found: dict[str, list[float]] = {}
    for family in text_string_to_metric_families(written.render().decode()):
        for sample in family.samples:
            found.setdefault(sample.name.removeprefix("penstock_group_"), []).append(sample.value)
    return found


def test_every_partition_is_told_and_the_worst_besides() -> None:
    found = samples(group(3, 0, 7))
    assert found["lag"] == [3, 0, 7] and found["lag_seconds"] == [3, 0, 7]
    assert (found["lag_sum"], found["lag_max"], found["lag_seconds_max"]) == ([10], [7], [7])
    assert found["committed_offset"] == [10, 10, 10]
    assert found["rebalances_total"] == [3] and "sla_seconds" not in found


def test_of_too_many_only_the_worst_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "ROWS_MAX", 2)
    calm = group(0, 0)
    assert samples(calm)["lag"] == [0, 0]
    found = samples(group(3, 0, 7), calm)
    assert found["lag"] == [7, 0] and found["lag_sum"] == [10, 0]
    assert "committed_offset" not in found
    assert samples(calm)["lag"] == [0, 0]


def test_what_is_kept_goes_when_something_changes() -> None:
    calm = group(0)
    assert samples(calm)["lag"] == [0] and calm.calm is not None
    calm.take_offsets([(TopicPartition("t", 0), CommittedOffset(4, -1, "", 600))])
    row = calm.rows[TopicPartition("t", 0)]
    assert row.wants_time
    row.learn_time(NOW_MS - 5000)
    assert samples(calm)["lag"] == [6] and calm.calm is None
    assert samples(calm, now_ms=NOW_MS + 2000)["lag_seconds"] == [7]


def test_a_limit_holds_for_the_worst_partition_of_a_topic() -> None:
    behind = group(3, 50)
    for row in behind.rows.values():
        row.limit_s = 20.0
    found = samples(behind)
    assert (found["sla_seconds"], found["sla_over_seconds"]) == ([20], [30])
