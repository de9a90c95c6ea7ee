"""A pipeline whose outputs share a query: each record to a topic and to a table of every kind.

Owns what is written and how it is read back: without Spark, by what the tables' own logs say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from penstock.pipelines import decode, pipeline, sinks, sources
from penstock.pipelines.sinks.iceberg import open_catalog

if TYPE_CHECKING:
    import pyarrow

    from penstock.pipelines.declare import Pipeline
    from penstock.pipelines.sinks import Sink

SPLIT: Final = "split"
PARQUET, ICEBERG, DELTA = "split_parquet", "split_iceberg", "split_delta"
TABLES: Final = (PARQUET, ICEBERG, DELTA)
_BATCH_ROWS: Final = 10_000
# Few, so that files are merged while processes are killed.
_FILES: Final = 6

Row = tuple[str, str]
"""Key and value."""


def outputs() -> dict[str, Sink]:
    """In the order in which a batch is written to them."""
    return {
        SPLIT: sinks.topic(SPLIT),
        ICEBERG: sinks.iceberg(ICEBERG, compact_after_files=_FILES),
        DELTA: sinks.delta(compact_after_files=_FILES),
        PARQUET: sinks.parquet(compact_after_files=_FILES),
    }


def split_pipeline(source: str, outputs: Mapping[str, Sink]) -> Pipeline:
    limit = {"maxOffsetsPerTrigger": str(_BATCH_ROWS)}
    records = sources.topic(source, decode=decode.text(), options=limit)

    @pipeline(name=SPLIT, inputs={"records": records}, outputs=outputs)
    def split(records: Any) -> Any:
        rows = records.selectExpr("string(_key) AS key", "value")
        return dict.fromkeys(outputs, rows)

    return split


def rows_in(folder: Path, table: str) -> list[Row]:
    found = _iceberg(folder, table) if table == ICEBERG else _files(folder / "tables" / table)
    return [
        row
        for each in found
        for row in zip(*(each.column(name).to_pylist() for name in ("key", "value")), strict=True)
    ]


def _iceberg(folder: Path, table: str) -> Iterator[pyarrow.Table]:
    yield open_catalog({}, folder).load_table(f"default.{table}").scan().to_arrow()


def _files(table: Path) -> Iterator[pyarrow.Table]:
    from pyarrow import parquet

    log = table / "_delta_log"
    for name in _delta_files(log) if log.exists() else table.glob("batch=*/*.parquet"):
        yield parquet.ParquetFile(table / name).read()


def _delta_files(log: Path) -> Iterable[str]:
    """Those that its commits added, and none has removed."""
    kept: dict[str, None] = {}
    for commit in sorted(log.glob("*.json")):
        for action in map(json.loads, commit.read_text().splitlines()):
            if "add" in action:
                kept[action["add"]["path"]] = None
            if "remove" in action:
                kept.pop(action["remove"]["path"], None)
    return kept
