"""The sink for search indexes with a real Elasticsearch: the same answers as from the small one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.pipelines import sinks
from tests.pipelines.search_server import SearchServer, search_server
from tests.pipelines.sink_kit import work_off
from tests.pipelines.test_pipeline_sink_http import ORIGIN, QUICK, records
from tests.pipelines.test_pipeline_sink_lake import drop_rows, undo_last_commit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.java, pytest.mark.timeout(600)]
INDEX = "orders"


@pytest.fixture(scope="module")
def server() -> Iterator[SearchServer]:
    with search_server() as found:
        yield found


def test_documents_are_written_over_and_deleted(
    spark: SparkSession, server: SearchServer, tmp_path: Path
) -> None:
    schema = "id string, amount int, v long, _deleted boolean"
    sink = sinks.elasticsearch(INDEX, url=server.url, key="id", order="v", retry=QUICK)
    drop_rows(tmp_path / "in", 1, [{"id": each, "amount": 1, "v": 5} for each in "abc"])
    work_off(spark, tmp_path, sink, schema)
    assert sorted(server.documents(INDEX)) == ["a", "b", "c"]
    changes = [{"id": "a", "amount": 9, "v": 7}, {"id": "a", "amount": 8, "v": 6}]
    changes += [{"id": "b", "v": 6, "_deleted": True}, {"id": "x", "v": 1, "_deleted": True}]
    # Older than what is there.
    changes += [{"id": "c", "amount": 0, "v": 4}]
    drop_rows(tmp_path / "in", 2, changes)
    work_off(spark, tmp_path, sink, schema)
    wanted = {"a": {"id": "a", "amount": 9, "v": 7}, "c": {"id": "c", "amount": 1, "v": 5}}
    assert server.documents(INDEX) == wanted
    undo_last_commit(tmp_path / "checkpoint")
    work_off(spark, tmp_path, sink, schema)
    assert server.documents(INDEX) == wanted


def test_a_document_that_is_refused_is_named(
    spark: SparkSession, server: SearchServer, tmp_path: Path
) -> None:
    sink = sinks.elasticsearch("refused", url=server.url, retry=QUICK)
    drop_rows(tmp_path / "in", 1, records(3))
    work_off(spark, tmp_path, sink, f"{ORIGIN}, amount int")
    drop_rows(tmp_path / "in", 2, [{**records(4)[0], "amount": "many"}])
    with pytest.raises(Exception, match=r"document orders:0:4 of refused was refused: failed to"):
        work_off(spark, tmp_path, sink, f"{ORIGIN}, amount string")
    assert server.documents("refused") == {"orders:0:3": {"amount": 3}}
