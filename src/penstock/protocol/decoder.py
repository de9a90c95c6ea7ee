"""Writes and compiles the decoder of one entity in one version.

The whole tree of nested structs becomes one straight function. Slices behind the end of the buffer
come out short instead of failing, so reads run on and the position is checked once, at the end:
indexing and unpacking past the end fail by themselves long before that matters.

Slicing and decoding text is twice as fast on bytes as on a memoryview, so a buffer is turned into
bytes first, except for the messages that carry records: those can be large and are never copied.

Bytes are cheap and what is made of them is not: an empty name of one byte becomes an object, an
answer, and a turn of a loop. So elements are counted, over all arrays and tag sections together,
before any of them is made. There are never more than bytes, and of a request not more than asked.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import calcsize, error, unpack_from
from typing import TypeVar, cast

from penstock.model.error import ProtocolError
from penstock.protocol.entity import Entity, Field
from penstock.protocol.source import (
    FEW,
    FIXED,
    Code,
    Function,
    array_unpackers,
    default_of,
    has_records,
    is_flexible,
)
from penstock.protocol.wire import (
    Buffer,
    read_varint,
    reject_elements,
    reject_length,
    reject_null,
    skip_tags,
)

T = TypeVar("T", bound=Entity)

STRING_BYTES_MAX = 0x7FFF
"""What older versions have room for; Kafka reads no longer ones in newer versions either."""

_NAMES: dict[str, object] = {
    "MALFORMED": (error, IndexError, ValueError, OverflowError),
    "ProtocolError": ProtocolError,
    "new": object.__new__,
    "read_varint": read_varint,
    "reject_elements": reject_elements,
    "reject_length": reject_length,
    "reject_null": reject_null,
    "skip_tags": skip_tags,
    "unpack_from": unpack_from,
}


def compile_decoder(
    cls: type[T], version: int, elements_max: int | None = None
) -> Callable[[Buffer, int], tuple[T, int]]:
    writer = DecoderWriter(cls, version, elements_max)
    function = writer.code.build("decode", f"decode {cls.__name__} v{version}")
    return cast(Callable[[Buffer, int], tuple[T, int]], function)


class DecoderWriter:
    def __init__(self, cls: type[Entity], version: int, elements_max: int | None) -> None:
        self.version = version
        self._elements_max = elements_max
        self.flexible = is_flexible(cls, version)
        self.in_place = has_records(cls)
        self.code = Code(dict(_NAMES))
        self._tag_readers = 0
        self._write_entry(cls)

    def _write_entry(self, cls: type[Entity]) -> None:
        function = Function("decode(buf, pos)")
        label = f"{cls.__name__} v{self.version}"
        self._no_room = f"reject_elements('{label}', {self._elements_max})"
        with function.block("try:"):
            if self.in_place:
                function.line("view = memoryview(buf)")
            else:
                with function.block("if type(buf) is not bytes:"):
                    function.line("buf = bytes(buf)")
            function.line("end = len(buf)")
            function.line("room = end - pos")
            if self._elements_max is not None:
                with function.block(f"if room > {self._elements_max}:"):
                    function.line(f"room = {self._elements_max}")
            root = self._new_struct(function, cls)
            self._flush(function)
        with function.block("except MALFORMED as error:"):
            function.line(f"raise ProtocolError(f'malformed {label}: {{error}}') from error")
        with function.block("if pos > end:"):
            function.line(f"raise ProtocolError('truncated {label}')")
        function.line(f"return {root}, pos")
        self.code.add(function)

    def _flush(self, function: Function) -> None:
        """Turns the pending run into one read."""
        if not function.run:
            return
        formats, targets = function.take_run()
        if formats == "B":
            function.line(f"{targets[0]} = buf[pos]")
        else:
            unpack = self.code.unpacker(formats)
            function.line(f"{', '.join(targets)}, = {unpack}(buf, pos)")
        function.line(f"pos += {calcsize('>' + formats)}")

    def _new_struct(self, function: Function, cls: type[Entity]) -> str:
        owner = function.name("o")
        function.line(f"{owner} = new({self.code.bind_class(cls)})")
        tagged = []
        for field in cls.SCHEMA:
            if field.in_version(self.version) and not field.tagged_in(self.version):
                self._read_field(function, field, f"{owner}.{field.name}")
                continue
            function.line(f"{owner}.{field.name} = {self._default(field)}")
            if field.tagged_in(self.version):
                tagged.append(field)
        if self.flexible:
            self._read_tags(function, owner, cls, tagged)
        return owner

    def _default(self, field: Field) -> str:
        if field.default is None or field.optional_struct:
            return "None"
        if field.array:
            return "[]"
        if isinstance(field.type, str):
            return repr(default_of(field))
        return f"{self.code.bind_class(field.type)}()"

    # Tags: an empty section is one byte of the last run, anything else leaves the fast path.

    def _read_tags(
        self, function: Function, owner: str, cls: type[Entity], tagged: list[Field]
    ) -> None:
        count = function.name("t")
        function.run.append(("B", count))
        self._flush(function)
        with function.block(f"if {count}:"):
            if tagged:
                reader = self._write_tag_reader(cls, tagged)
                function.line(f"pos, room = {reader}(buf, pos - 1, {owner}, room)")
            else:
                function.line("pos, room = skip_tags(buf, pos - 1, room)")

    def _write_tag_reader(self, cls: type[Entity], tagged: list[Field]) -> str:
        self._tag_readers += 1
        name = f"tags_{self._tag_readers}"
        function = Function(f"{name}(buf, pos, o, room)")
        function.line("end = len(buf)")
        function.line("count, pos = read_varint(buf, pos)")
        self._charge(function, "count")
        with function.block("for _ in range(count):"):
            function.line("tag, pos = read_varint(buf, pos)")
            function.line("size, pos = read_varint(buf, pos)")
            function.line("behind = pos + size")
            for field in tagged:
                with function.block(f"if tag == {field.tag}:"):
                    self._read_field(function, field, f"o.{field.name}")
                    self._flush(function)
                    with function.block("if pos != behind:"):
                        function.line(f"reject_length('tag of {cls.__name__}')")
                    function.line("continue")
            function.line("pos = behind")
        function.line("return pos, room")
        self.code.add(function)
        return name

    def _charge(self, function: Function, count: str) -> None:
        function.line(f"room -= {count}")
        with function.block("if room < 0:"):
            function.line(self._no_room)

    # Fields

    def _read_field(self, function: Function, field: Field, target: str) -> None:
        nullable = field.nullable_in(self.version)
        if field.array:
            self._read_array(function, field, target, nullable)
        elif not isinstance(field.type, str):
            null = None if not nullable else 0 if field.tells_null else -1
            self._read_struct(function, field.type, target, null)
        elif field.type in FIXED:
            function.run.append((FIXED[field.type], target))
        else:
            compact = self.flexible and field.compact
            width = "h" if field.type == "string" else "i"
            longest = STRING_BYTES_MAX if field.type == "string" else None
            size = self._read_length(function, width, compact, longest)
            self._if_not_null(
                function, size, compact, target, nullable, lambda: self._slice(field, size)
            )

    def _slice(self, field: Field, size: str) -> tuple[str, list[str]]:
        piece = f"buf[pos:pos + {size}]"
        if field.type == "records":
            value = f"view[pos:pos + {size}]"
        elif field.type == "string":
            value = f"str({piece}, 'utf-8')" if self.in_place else f"{piece}.decode()"
        else:
            value = f"bytes({piece})" if self.in_place else piece
        return value, [f"pos += {size}"]

    def _read_length(
        self, function: Function, width: str, compact: bool, longest: int | None = None
    ) -> str:
        size = function.name("n")
        function.run.append(("B" if compact else width, size))
        self._flush(function)
        if compact:
            with function.block(f"if {size} > 127:"):
                function.line(f"{size}, pos = read_varint(buf, pos - 1)")
                if longest is not None:
                    with function.block(f"if {size} > {longest + 1}:"):
                        function.line("reject_length('string')")
            function.line(f"{size} -= 1")
        return size

    def _if_not_null(
        self,
        function: Function,
        size: str,
        compact: bool,
        target: str,
        nullable: bool,
        value_of: Callable[[], tuple[str, list[str]]],
    ) -> None:
        """Assigns the value whose length was just read, or None, or fails."""
        label = repr(target.partition(".")[2] or "element")
        with function.block(f"if {size} < 0:"):
            if nullable:
                if not compact:
                    with function.block(f"if {size} != -1:"):
                        function.line(f"reject_length({label})")
                function.line(f"{target} = None")
            else:
                function.line(f"reject_null({label})")
        with function.block("else:"):
            value, after = value_of()
            function.line(f"{target} = {value}")
            for line in after:
                function.line(line)

    def _read_struct(
        self, function: Function, cls: type[Entity], target: str, null: int | None
    ) -> None:
        """`null`, or less, stands before what is None."""
        if null is None:
            function.line(f"{target} = {self._new_struct(function, cls)}")
            return
        marker = function.name("m")
        function.run.append(("b", marker))
        self._flush(function)
        with function.block(f"if {marker} <= {null}:"):
            function.line(f"{target} = None")
        with function.block("else:"):
            owner = self._new_struct(function, cls)
            self._flush(function)
            function.line(f"{target} = {owner}")

    # Arrays

    def _read_array(self, function: Function, field: Field, target: str, nullable: bool) -> None:
        size = self._read_length(function, "i", self.flexible)

        def items() -> tuple[str, list[str]]:
            if isinstance(field.type, str) and field.type in FIXED:
                return self._fixed_items(function, FIXED[field.type], size)
            return self._looped_items(function, field, size), []

        self._if_not_null(function, size, self.flexible, target, nullable, items)

    def _fixed_items(self, function: Function, form: str, size: str) -> tuple[str, list[str]]:
        width = calcsize(">" + form)
        with function.block(f"if {size} * {width} > end - pos:"):
            function.line("reject_length('array')")
        self._charge(function, size)
        after = [f"pos += {size} * {width}"]
        if form == "16s":
            piece = f"range(pos, pos + {size} * 16, 16)"
            return f"[bytes(buf[i:i + 16]) for i in {piece}]", after
        few = self.code.bind(f"few_{form}", array_unpackers(form))
        with function.block(f"if {size} < {FEW}:"):
            function.line(f"items = [*{few}[{size}](buf, pos)]")
        with function.block("else:"):
            function.line(f"items = [*unpack_from(f'>{{{size}}}{form}', buf, pos)]")
        return "items", after

    def _looped_items(self, function: Function, field: Field, size: str) -> str:
        self._charge(function, size)
        items = function.name("a")
        function.line(f"{items} = []")
        with function.block(f"for _ in range({size}):"):
            if isinstance(field.type, str):
                element = function.name("e")
                self._read_field(function, field._replace(array=False, nullable=None), element)
            else:
                element = self._new_struct(function, field.type)
            self._flush(function)
            function.line(f"{items}.append({element})")
        return items
