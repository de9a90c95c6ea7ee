"""Values as Confluent's serializers write them.

The bytes are those that `AvroSerializer` and `ProtobufSerializer` of confluent-kafka 2.16.1 wrote,
with a registry that numbered the schemas 1 to 4.
"""

from __future__ import annotations

from typing import Any

import pytest

from penstock.pipelines import decode
from tests.pipelines.test_pipeline_decode import outcomes

PAYMENT = {
    "type": "record",
    "name": "Payment",
    "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"]}],
}
AVRO = b"\x00\x00\x00\x00\x01\x0e\x02\x02n"
ORDER = b"\x00\x00\x00\x00\x02\x00\n\x02a7"
REFUND = b"\x00\x00\x00\x00\x03\x02\x02\n\x02a7"
REFUND_TAX = b"\x00\x00\x00\x00\x04\x04\x02\x02\n\x02a7"
SHOP = (
    b'\n\nshop.proto\x12\x04shop"\x13\n\x05Order\x12\n\n\x02id\x18\x01 \x01(\t"=\n\x06Refund\x12\n'
    b"\n\x02id\x18\x01 \x01(\t\x1a\x13\n\x04Line\x12\x0b\n\x03sku\x18\x01 \x01(\t\x1a\x12\n\x03Tax"
    b"\x12\x0b\n\x03sku\x18\x01 \x01(\tb\x06proto3"
)


def of_shop(message: str, **more: Any) -> Any:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

    files = FileDescriptorSet(file=[FileDescriptorProto.FromString(SHOP)])
    return decode.protobuf(message, descriptors=files.SerializeToString(), **more)


def loaded(decoder: Any, value: bytes) -> Any:
    try:
        return decoder.load(value)
    except ValueError as error:
        return type(error).__name__


def test_avro(spark: Any) -> None:
    decoder = decode.avro(PAYMENT, framing="confluent")
    other_magic, unframed = b"\x01" + AVRO[1:], AVRO[5:]
    values = [AVRO, AVRO[:-1], AVRO[:4], other_magic, unframed, b""]
    wanted = [{"id": 7, "note": "n"}] + ["NotAvro"] * 5
    assert outcomes(spark, decoder, list(values)) == wanted
    assert [loaded(decoder, each) for each in values] == wanted


def test_protobuf_finds_the_message_behind_its_indexes(spark: Any) -> None:
    assert outcomes(spark, of_shop("shop.Order", framing="confluent"), [ORDER, REFUND, b""]) == [
        {"id": "a7"},
        "NotProtobuf",
        "NotProtobuf",
    ]


@pytest.mark.parametrize(
    ("message", "value", "made"),
    [
        ("shop.Order", ORDER, {"id": "a7"}),
        ("shop.Refund", REFUND, {"id": "a7"}),
        ("shop.Refund.Tax", REFUND_TAX, {"sku": "a7"}),
    ],
)
def test_each_message_of_a_file_is_itself_alone(message: str, value: bytes, made: Any) -> None:
    decoder = of_shop(message, framing="confluent")
    assert decoder.load(value) == made
    others = {ORDER, REFUND, REFUND_TAX} - {value}
    assert [loaded(decoder, each) for each in others] == ["NotProtobuf"] * 2


@pytest.mark.parametrize("damage", [b"\x01" + ORDER[1:], ORDER[:5], ORDER[:5] + b"\x01", ORDER[:3]])
def test_damaged_framing_is_refused(damage: bytes) -> None:
    assert loaded(of_shop("shop.Order", framing="confluent"), damage) == "NotProtobuf"


def test_indexes_are_varints_with_a_sign() -> None:
    from penstock.pipelines.transforms.confluent_framing import message_indexes

    assert message_indexes(b"\x02\x80\x02rest") == ((128,), b"rest")
    assert message_indexes(b"\x00rest") == ((0,), b"rest")
