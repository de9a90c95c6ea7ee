"""The decoders that there are, as declarations name them: `decode.json(...)` and the like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from penstock.pipelines.transforms.decoder import Decoder, Framing, Tombstones


def json(
    schema: str | StructType,
    *,
    options: Mapping[str, str] | None = None,
    tombstones: Tombstones = "dead-letter",
) -> Decoder:
    """JSON objects, by Spark's `from_json`; a field declared NOT NULL is required."""
    from penstock.pipelines.transforms.json_form import JsonDecoder

    return JsonDecoder(schema, options=dict(options or {}), tombstones=tombstones)


def avro(
    schema: str | Mapping[str, Any],
    *,
    framing: Framing = "none",
    tombstones: Tombstones = "dead-letter",
) -> Decoder:
    """Avro's binary encoding without a header, as `fastavro.schemaless_writer` writes it.

    With `framing="confluent"` a magic byte and a schema id stand before it. The id is not looked
    up: every record is to be of the schema that is given.
    """
    from penstock.pipelines.transforms.avro_form import AvroDecoder

    return AvroDecoder(schema, framing=framing, tombstones=tombstones)


def protobuf(
    message: Any,
    *,
    descriptors: bytes | None = None,
    framing: Framing = "none",
    tombstones: Tombstones = "dead-letter",
) -> Decoder:
    """Protobuf messages: a generated class, or a full name and a serialized FileDescriptorSet.

    With `framing="confluent"` a magic byte, a schema id and the place of the message in its file
    stand before it; a record of another message of that file is refused. Decodes in Python workers.
    """
    from penstock.pipelines.transforms.protobuf_form import ProtobufDecoder

    return ProtobufDecoder.of(
        message, descriptors=descriptors, framing=framing, tombstones=tombstones
    )


def text(*, column: str = "value", tombstones: Tombstones = "dead-letter") -> Decoder:
    """UTF-8 text, in one column."""
    from penstock.pipelines.transforms.plain_form import TextDecoder

    return TextDecoder(column=column, tombstones=tombstones)


def raw(*, column: str = "value", tombstones: Tombstones = "keep") -> Decoder:
    """The bytes as they are, in one column."""
    from penstock.pipelines.transforms.plain_form import RawDecoder

    return RawDecoder(column=column, tombstones=tombstones)
