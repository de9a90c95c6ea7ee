"""The worked examples run, and their pages show them as they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from examples.bronze_silver_gold import order_tables
from examples.change_data_capture import customers
from examples.model_scoring import payment_scores
from examples.reconciliation import reconcile
from examples.stream_join import orders_with_payments
from examples.topic_migration import orders_to_v2
from examples.windowed_aggregate import views_per_hour
from penstock.pipelines.run_settings import RunSettings
from penstock.pipelines.sinks.iceberg import open_catalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.filterwarnings("ignore")  # pyiceberg's and SQLAlchemy's own
ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., Any]


def written(**fields: Any) -> str:
    return json.dumps(fields)


def iceberg(tmp_path: Path, table: str, *columns: str) -> list[tuple[Any, ...]]:
    rows = open_catalog({}, tmp_path / "pipelines").load_table(table).scan().to_arrow()
    return sorted(tuple(row.values()) for row in rows.select(columns).to_pylist())


def values(broker: Any, topic: str) -> list[Any]:
    return [json.loads(each.value) for each in broker.read(topic)]


@pytest.mark.parametrize(
    "page", sorted(ROOT.glob("docs/examples/*.md")), ids=lambda page: str(page.stem)
)
def test_a_page_shows_its_example_as_it_is(page: Path) -> None:
    source = ROOT / "examples" / f"{page.stem.replace('-', '_')}.py"
    assert f"```python\n{source.read_text()}```\n" in page.read_text()


def test_bronze_silver_gold(
    spark: SparkSession, penstock: Any, pipeline_run: Run, tmp_path: Path
) -> None:
    penstock.create_topic("orders")
    first = written(id="1", customer="ann", amount=5.0, at="2026-01-01T10:00:00Z")
    later = written(id="1", customer="ann", amount=7.0, at="2026-01-01T11:00:00Z")
    other = written(id="2", customer="bob", amount=3.0, at="2026-01-01T12:00:00Z")
    penstock.produce("orders", [later, first, "no order", other])
    assert pipeline_run(order_tables).dead_letters == 1
    bronze = spark.read.parquet(str(tmp_path / "pipelines" / "tables" / "bronze"))
    assert bronze.count() == 4
    assert iceberg(tmp_path, "silver.orders", "id", "amount") == [("1", 7.0), ("2", 3.0)]
    wanted = [("ann", 7.0), ("bob", 3.0)]
    assert iceberg(tmp_path, "gold.customers", "customer", "largest_order") == wanted


def test_windowed_aggregate(penstock: Any, pipeline_run: Run) -> None:
    def view(id: int, at: str) -> str:
        return written(id=str(id), page="home", at=f"2026-01-01T{at}:00Z")

    penstock.create_topic("views")
    hours = [view(1, "10:00"), view(1, "10:00"), view(2, "10:30")]
    later = [view(3, "11:30"), view(4, "11:40"), view(5, "11:45")]
    # The hour is closed by the watermark of the batch before, and refuses rows a batch later.
    penstock.produce("views", [*hours, *later, *(view(6, "11:50") for _ in range(3))])
    penstock.produce("views", [view(7, "10:59")])
    (source,) = views_per_hour.inputs.values()
    by_three = replace(source, options={"maxOffsetsPerTrigger": "3"})
    assert pipeline_run(replace(views_per_hour, inputs={"views": by_three})).late == 1
    assert values(penstock, "views-per-hour") == [{"hour": "2026-01-01T10:00:00.000Z", "count": 2}]
    assert [each["id"] for each in values(penstock, "views-per-hour.late")] == ["7"]


def test_stream_join(penstock: Any, pipeline_run: Run) -> None:
    def order(id: str, at: str) -> str:
        return written(id=id, amount=10.0, at=f"2026-01-01T{at}:00Z")

    def payment(id: str, at: str) -> str:
        return written(order_id=id, paid=10.0, paid_at=f"2026-01-01T{at}:00Z")

    for topic in ("orders", "payments"):
        penstock.create_topic(topic)
    penstock.produce("orders", [order("a", "10:00"), order("b", "10:00")])
    penstock.produce("payments", [payment("a", "10:20")])
    pipeline_run(orders_with_payments)
    for _ in range(2):
        penstock.produce("orders", [order("c", "12:00")])
        penstock.produce("payments", [payment("x", "12:00")])
        pipeline_run(orders_with_payments)
    states = [(each["id"], each["state"]) for each in values(penstock, "orders-with-payments")]
    assert states == [("a", "paid"), ("b", "unpaid")]


def test_change_data_capture(penstock: Any, pipeline_run: Run, tmp_path: Path) -> None:
    def change(op: str, lsn: int, before: Any, after: Any) -> str:
        return written(op=op, before=before, after=after, source={"lsn": lsn}, ts_ms=1)

    def row(id: int, name: str) -> dict[str, Any]:
        return {"id": id, "name": name, "email": f"{name}@shop"}

    penstock.create_topic("shop.public.customers")
    created = [change("c", each, None, row(each, f"n{each}")) for each in (1, 2, 3)]
    penstock.produce("shop.public.customers", [(b"k", each) for each in created])
    pipeline_run(customers)
    changes = [
        change("u", 4, row(1, "n1"), row(1, "ann")),
        change("d", 5, row(2, "n2"), None),
        None,
        change("u", 6, row(1, "ann"), row(1, "anna")),
    ]
    penstock.produce("shop.public.customers", [(b"k", each) for each in changes])
    progress = pipeline_run(customers)
    assert progress.dead_letters == 0
    wanted = [(1, "anna"), (3, "n3")]
    assert iceberg(tmp_path, "shop.customers", "id", "name") == wanted


def test_model_scoring(penstock: Any, pipeline_run: Run) -> None:
    penstock.create_topic("payments")
    small = written(id="small", amount=10.0, hour=12, abroad=False)
    large = written(id="large", amount=1000.0, hour=3, abroad=True)
    penstock.produce("payments", [small, large])
    pipeline_run(payment_scores)
    scores = {each["id"]: each["score"] for each in values(penstock, "payment-scores")}
    assert scores == {"small": 0.0154, "large": 0.9002}


def test_reconciliation(spark: SparkSession, penstock: Any) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", [str(each) for each in range(5)])
    copied = [(0, "orders"), (1, "orders"), (1, "orders"), (4, "orders"), (9, "orders")]
    rows = spark.createDataFrame(
        [(0, offset, topic) for offset, topic in copied],
        "_partition int, _offset long, _topic string",
    )
    settings = RunSettings(penstock.bootstrap_servers)
    found = [tuple(row) for row in reconcile(spark, "orders", rows, settings).collect()]
    assert found == [
        (0, 1, 2, "doubled"),
        (0, 2, 0, "missing"),
        (0, 3, 0, "missing"),
        (0, 9, 1, "unknown"),
    ]


def test_topic_migration(penstock: Any, pipeline_run: Run) -> None:
    penstock.create_topic("orders")
    old = [written(id="1", customer="Ann Lee", amount=1.99), "not an order"]
    penstock.produce("orders", [("k1", old[0]), ("k2", old[1])])
    assert pipeline_run(orders_to_v2).dead_letters == 1
    (record,) = penstock.read("orders-v2")
    new = {"id": "1", "first_name": "Ann", "last_name": "Lee", "amount_cents": 199}
    assert (record.key, json.loads(record.value)) == (b"k1", new)
    assert dict(record.headers) == {"migrated-from": b"orders-0-0"}
