"""Decoding tells a record that is wrong from one that is only empty; on real Spark, no stream."""

from __future__ import annotations

import io
import json
from datetime import datetime
from typing import Any

import fastavro
import pytest

from penstock.pipelines import decode
from penstock.pipelines.transforms.decoder import good

RAW = (
    "key binary, value binary, headers array<struct<key:string,value:binary>>, topic string,"
    " partition int, offset long, timestamp timestamp"
)


def rows(spark: Any, values: list[bytes | None]) -> Any:
    at = datetime.fromisoformat("2026-01-02T03:04:05")
    made = [(b"k", each, None, "t", 0, offset, at) for offset, each in enumerate(values)]
    return spark.createDataFrame(made, RAW)


def outcomes(spark: Any, decoder: Any, values: list[bytes | None]) -> list[Any]:
    """For each value its record as a dict, or the class of the error."""
    applied = decoder.apply(rows(spark, values)).orderBy("offset").collect()
    return [each._error or (each._record and each._record.asDict(True)) for each in applied]


def test_the_message_names_the_missing_field(spark: Any) -> None:
    decoder = decode.json("id string, place struct<city: string NOT NULL>")
    applied = decoder.apply(rows(spark, [b'{"id":"a","place":{}}'])).collect()
    assert applied[0]._message == "the required field place.city is missing or null"


@pytest.mark.parametrize(
    ("policy", "outcome", "kept"),
    [("dead-letter", "Tombstone", 1), ("drop", None, 1), ("keep", None, 2)],
)
def test_tombstones_go_by_the_declared_policy(
    spark: Any, policy: Any, outcome: str | None, kept: int
) -> None:
    decoder = decode.json("id string", tombstones=policy)
    values = [b'{"id":"a"}', None]
    assert outcomes(spark, decoder, values) == [{"id": "a"}, outcome]
    found = good(decoder.apply(rows(spark, values)), decoder)
    assert found.count() == kept
    assert found.columns == [
        "id", "_key", "_topic", "_partition", "_offset", "_timestamp", "_headers",
    ]  # fmt: skip


PAYMENT = {
    "type": "record",
    "name": "Payment",
    "fields": [
        {"name": "id", "type": ["null", "long"]},
        {"name": "note", "type": ["null", "string"]},
        {"name": "bytes", "type": ["null", "bytes"]},
    ],
}


def avro(schema: Any, record: Any) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), record)
    return stream.getvalue()


def test_avro_written_by_fastavro(spark: Any) -> None:
    full = {"id": 7, "note": "n", "bytes": b"b"}
    nulls = {"id": None, "note": None, "bytes": None}
    values = [avro(PAYMENT, full), avro(PAYMENT, nulls)]
    assert outcomes(spark, decode.avro(PAYMENT), values) == [full, nulls]
    assert outcomes(spark, decode.avro(json.dumps(PAYMENT)), values) == [full, nulls]
    assert [decode.avro(PAYMENT).load(each) for each in values] == [full, nulls]


def test_avro_written_by_spark(spark: Any) -> None:
    from pyspark.sql.avro.functions import to_avro

    made = spark.createDataFrame([(7, "n", None)], "id long, note string, bytes binary")
    (row,) = (
        made.selectExpr("struct(*) record")
        .select(to_avro("record", json.dumps(PAYMENT)).alias("v"))
        .collect()
    )
    assert outcomes(spark, decode.avro(PAYMENT), [bytes(row.v)])[0]["note"] == "n"


def test_avro_poison(spark: Any) -> None:
    huge = b"\x00\x00\x02" + b"\xfe\xff\xff\xff\x0f" + b"x"
    good = avro(PAYMENT, {"id": None, "note": None, "bytes": None})
    values = [b"", b"\x02", b"hello", huge, good + b"more"]
    assert outcomes(spark, decode.avro(PAYMENT), values) == ["NotAvro"] * 5
    for value in values:
        with pytest.raises(ValueError):
            decode.avro(PAYMENT).load(value)


def test_avro_lists_and_logical_types(spark: Any) -> None:
    schema = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "tags", "type": {"type": "array", "items": "string"}},
        ],
    }
    value = avro(schema, {"at": 1000, "tags": ["a", "b"]})
    decoder = decode.avro(schema)
    assert outcomes(spark, decoder, [value, value[:-1]]) == [
        {"at": datetime.fromisoformat("1970-01-01T00:00:01"), "tags": ["a", "b"]},
        "NotAvro",
    ]
    assert [each.name for each in decoder.schema] == ["at", "tags"]


def message_class() -> Any:
    """As protoc would generate it."""
    from google.protobuf import descriptor_pb2, timestamp_pb2
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass

    pool = DescriptorPool()
    timestamp = descriptor_pb2.FileDescriptorProto()
    timestamp_pb2.DESCRIPTOR.CopyToProto(timestamp)
    pool.Add(timestamp)
    file = descriptor_pb2.FileDescriptorProto(
        name="shop.proto", package="shop", syntax="proto3", dependency=[timestamp.name]
    )
    kind = file.enum_type.add(name="Kind")
    kind.value.add(name="CARD", number=0)
    kind.value.add(name="CASH", number=1)
    order = file.message_type.add(name="Order")
    line = order.nested_type.add(name="Line")
    line.field.add(name="sku", number=1, type=9, label=1)
    entry = order.nested_type.add(name="CountsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=9, label=1)
    entry.field.add(name="value", number=2, type=5, label=1)
    order.field.add(name="id", number=1, type=9, label=1)
    order.field.add(name="amount", number=2, type=1, label=1)
    order.field.add(name="kind", number=3, type=14, label=1, type_name=".shop.Kind")
    order.field.add(name="lines", number=4, type=11, label=3, type_name=".shop.Order.Line")
    order.field.add(name="at", number=5, type=11, label=1, type_name=".google.protobuf.Timestamp")
    order.field.add(name="counts", number=6, type=11, label=3, type_name=".shop.Order.CountsEntry")
    order.field.add(name="big", number=7, type=4, label=1)
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName("shop.Order"))


def test_protobuf(spark: Any) -> None:
    Order = message_class()
    order = Order(id="a", amount=1.5, kind=1, counts={"x": 2}, big=2**64 - 1)
    order.lines.add(sku="s")
    order.at.FromMilliseconds(1500)
    values = [order.SerializeToString(), b"", b"\x0a\xff", None]
    found = outcomes(spark, decode.protobuf(Order), values)
    assert found[0]["lines"] == [{"sku": "s"}]
    assert found[0]["at"] == datetime.fromisoformat("1970-01-01T00:00:01.500")
    assert found[0]["counts"] == {"x": 2}
    assert (found[0]["id"], found[0]["kind"], int(found[0]["big"])) == ("a", "CASH", 2**64 - 1)
    # No bytes are a message too, of defaults.
    assert found[1]["id"] == "" and found[1]["at"] is None
    assert found[2:] == ["NotProtobuf", "Tombstone"]


def test_protobuf_by_name_and_descriptors(spark: Any) -> None:
    from penstock.pipelines.error import DeclarationError

    Order = message_class()
    descriptors = decode.protobuf(Order).descriptors  # type: ignore[attr-defined]
    decoder = decode.protobuf("shop.Order", descriptors=descriptors)
    assert outcomes(spark, decoder, [Order(id="a").SerializeToString()])[0]["id"] == "a"
    with pytest.raises(DeclarationError, match="descriptors"):
        decode.protobuf("shop.Order")
    with pytest.raises(DeclarationError, match="no Protobuf message"):
        decode.protobuf(int)


def test_text_and_bytes(spark: Any) -> None:
    values = ["ü".encode(), b"\xff", None]
    assert outcomes(spark, decode.text(), values) == [{"value": "ü"}, "NotText", "Tombstone"]
    assert outcomes(spark, decode.raw(), values) == [{"value": values[0]}, {"value": b"\xff"}, None]
