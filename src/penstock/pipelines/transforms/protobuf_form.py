"""Protobuf messages, decoded in Python workers with Google's library.

Spark's own Protobuf functions are not among the artifacts that the pinned Spark has. A message
travels to the workers as its descriptors, so that they need not import generated code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from penstock.pipelines.error import DeclarationError
from penstock.pipelines.transforms.confluent_framing import (
    behind_prefix,
    indexes_of,
    message_indexes,
)
from penstock.pipelines.transforms.decoder import ERROR, MESSAGE, RECORD
from penstock.pipelines.transforms.undecodable import NotProtobuf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from penstock.pipelines.transforms.decoder import Framing, Tombstones


@dataclass(frozen=True, slots=True)
class ProtobufDecoder:
    full_name: str
    descriptors: bytes
    """A serialized FileDescriptorSet, in an order in which each file follows its imports."""
    framing: Framing = "none"
    tombstones: Tombstones = "dead-letter"

    @classmethod
    def of(
        cls, message: Any, *, descriptors: bytes | None, framing: Framing, tombstones: Tombstones
    ) -> ProtobufDecoder:
        if isinstance(message, str):
            if descriptors is None:
                raise DeclarationError(
                    f"give the descriptors of {message}: descriptors=Path(…).read_bytes(), a file"
                    " made with `protoc --include_imports --descriptor_set_out`"
                )
            return cls(message, descriptors, framing, tombstones)
        own = getattr(message, "DESCRIPTOR", None)
        if own is None:
            raise DeclarationError(f"{message!r} is no Protobuf message: give a generated class")
        return cls(own.full_name, _descriptor_set(own.file), framing, tombstones)

    @property
    def schema(self) -> StructType:
        from penstock.pipelines.transforms.protobuf_schema import struct_of

        return struct_of(_message_class(self.full_name, self.descriptors).DESCRIPTOR)

    def apply(self, rows: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F
        from pyspark.sql.pandas.functions import pandas_udf
        from pyspark.sql.types import StringType, StructType

        answer = (
            StructType()
            .add(RECORD, self.schema)
            .add(ERROR, StringType())
            .add(MESSAGE, StringType())
        )
        decoder = self

        @pandas_udf(answer)  # type: ignore[call-overload]
        def decode(values):  # type: ignore[no-untyped-def]
            import pandas

            decoded = [decoder._judge(each) for each in values]
            return pandas.DataFrame(decoded, columns=[RECORD, ERROR, MESSAGE])

        marked = rows.withColumn("_decoded", decode(F.col("value")))
        return marked.select(*rows.columns, "_decoded.*")

    def _judge(self, value: bytes | None) -> tuple[dict[str, Any] | None, str | None, str | None]:
        if value is None:
            if self.tombstones == "dead-letter":
                return None, "Tombstone", "the record has no value"
            return None, None, None
        try:
            return self.load(value), None, None
        except ValueError as error:
            return None, "NotProtobuf", str(error)

    def load(self, value: bytes) -> dict[str, Any]:
        from google.protobuf.message import DecodeError

        from penstock.pipelines.transforms.protobuf_schema import plain

        made = _message_class(self.full_name, self.descriptors)
        if self.framing == "confluent":
            value = self._unframed(value, made.DESCRIPTOR)
        message = made()
        try:
            message.ParseFromString(bytes(value))
        except DecodeError as error:
            raise NotProtobuf(f"the bytes are not a {self.full_name} ({error})") from error
        return plain(message)

    def _unframed(self, value: bytes, descriptor: Any) -> bytes:
        indexes, content = message_indexes(behind_prefix(value, NotProtobuf))
        if indexes != indexes_of(descriptor):
            raise NotProtobuf(
                f"it is message {list(indexes)} of its file, and {self.full_name} is"
                f" {list(indexes_of(descriptor))}"
            )
        return content


def _descriptor_set(file: Any) -> bytes:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    files = FileDescriptorSet()
    for each in _with_imports(file, set()):
        each.CopyToProto(files.file.add())
    return bytes(files.SerializeToString())


def _with_imports(file: Any, seen: set[str]) -> Iterator[Any]:
    if file.name in seen:
        return
    seen.add(file.name)
    for each in file.dependencies:
        yield from _with_imports(each, seen)
    yield file


@lru_cache(maxsize=64)
def _message_class(full_name: str, descriptors: bytes) -> Any:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass

    # A pool of its own: the same file may be known to the default one in another version.
    pool = DescriptorPool()
    for each in FileDescriptorSet.FromString(descriptors).file:
        pool.Add(each)
    try:
        return GetMessageClass(pool.FindMessageTypeByName(full_name))
    except KeyError as error:
        raise DeclarationError(f"the descriptors do not hold {full_name}") from error
