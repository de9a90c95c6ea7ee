"""Writes and compiles the encoder of one entity in one version.

Values gather as chunks that are joined once. A length or an empty tag section that fits one byte
is packed together with the fixed-width values before it. Records are never copied: they stand as
parts of their own between the joined chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from struct import calcsize, error, pack
from typing import TypeVar, cast

from penstock.protocol.entity import Entity, Field
from penstock.protocol.source import (
    FEW,
    FIXED,
    Code,
    Function,
    array_packers,
    default_of,
    is_flexible,
)
from penstock.protocol.wire import join_tags, reject_field, varint

T = TypeVar("T", bound=Entity)

_NAMES: dict[str, object] = {
    "BYTE": tuple(bytes([value]) for value in range(128)),
    "UNFIT": (error, AttributeError, TypeError),
    "join_tags": join_tags,
    "pack": pack,
    "reject_field": reject_field,
    "varint": varint,
}


def compile_encoder(cls: type[T], version: int, prefix: int | None = None) -> Callable[[T], bytes]:
    """For entities without records; see compile_parts_encoder for the others. `prefix` is an int16
    that stands before every one of them."""
    writer = EncoderWriter(cls, version, parts=False, prefix=prefix)
    function = writer.code.build("encode", f"encode {cls.__name__} v{version}")
    return cast(Callable[[T], bytes], function)


def compile_parts_encoder(cls: type[T], version: int) -> Callable[[T], list[Sized]]:
    writer = EncoderWriter(cls, version, parts=True)
    function = writer.code.build("encode", f"encode {cls.__name__} v{version}")
    return cast(Callable[[T], list[Sized]], function)


def compile_pieces_encoder(
    cls: type[T], version: int, array: str
) -> tuple[Callable[[Iterable[object]], bytes], Callable[[T, int], tuple[bytes, bytes]]]:
    """For a message whose one long array is encoded piece by piece. Gives an encoder of some of its
    elements, and one of what stands before and behind all of them, which is told their number."""
    writer = PiecesEncoderWriter(cls, version, array)
    around = writer.code.build("around", f"encode {cls.__name__} v{version} around {array}")
    elements = writer.code.namespace["elements"]
    return (
        cast(Callable[[Iterable[object]], bytes], elements),
        cast(Callable[[T, int], tuple[bytes, bytes]], around),
    )


class StructWriter:
    """What all encoders of one version have in common."""

    def __init__(self, cls: type[Entity], version: int) -> None:
        self.version = version
        self.flexible = is_flexible(cls, version)
        self.code = Code(dict(_NAMES))
        self._tag_writers = 0

    # Runs

    def _flush(self, function: Function) -> None:
        if function.run:
            self._add_run(function, *function.take_run())

    def _add_run(self, function: Function, formats: str, values: list[str]) -> None:
        if formats == "B":
            function.line(f"add(BYTE[{values[0]}])")
        elif formats:
            function.line(f"add({self.code.packer(formats)}({', '.join(values)}))")

    def _flush_with_byte(self, function: Function, test: str, byte: str, otherwise: str) -> None:
        """Ends the run with one byte where test holds, else adds a whole chunk behind it."""
        formats, values = function.take_run()
        with function.block(f"if {test}:"):
            self._add_run(function, formats + "B", [*values, byte])
        with function.block("else:"):
            self._add_run(function, formats, values)
            function.line(f"add({otherwise})")

    def _flush_with_length(self, function: Function, size: str, width: str, compact: bool) -> None:
        if compact:
            self._flush_with_byte(function, f"{size} < 128", size, f"varint({size})")
        else:
            function.run.append((width, size))
            self._flush(function)

    # Structs and tags

    def _write_struct(self, function: Function, cls: type[Entity], owner: str) -> None:
        tagged = []
        for field in cls.SCHEMA:
            value = f"{owner}.{field.name}"
            if not field.in_version(self.version):
                self._check_absent(function, field, value)
            elif field.tagged_in(self.version):
                tagged.append(field)
            else:
                self._write_field(function, field, value)
        if self.flexible:
            self._write_tags(function, owner, tagged)

    def _check_absent(self, function: Function, field: Field, value: str) -> None:
        if not field.ignorable:
            with function.block(f"if not ({self._is_default(field, value)}):"):
                function.line(f"reject_field({field.name!r}, {self.version})")

    def _is_default(self, field: Field, value: str) -> str:
        if field.default is None:
            return f"{value} is None"
        if field.array:
            return f"{value} == []"
        if isinstance(field.type, str):
            return f"{value} == {default_of(field)!r}"
        # One by one: an empty struct to compare with would cost more than all of these.
        inner = [self._is_default(one, f"{value}.{one.name}") for one in field.type.SCHEMA]
        empty = " and ".join(f"({test})" for test in inner)
        return f"{value} is None or ({empty})" if field.optional_struct else empty

    def _is_left_out(self, field: Field, value: str) -> str:
        """Of tagged fields."""
        return "False" if field.tells_null else self._is_default(field, value)

    def _write_tags(self, function: Function, owner: str, tagged: list[Field]) -> None:
        if not tagged:
            function.run.append(("B", "0"))
            return
        if len(tagged) == 1 and tagged[0].type in FIXED and not tagged[0].array:
            self._write_fixed_tag(function, owner, tagged[0])
            return
        name = self._write_tag_writer(sorted(tagged, key=lambda field: field.tag or 0))
        tests = [f"({self._is_left_out(field, f'{owner}.{field.name}')})" for field in tagged]
        self._flush_with_byte(function, " and ".join(tests), "0", f"{name}({owner})")

    def _write_fixed_tag(self, function: Function, owner: str, field: Field) -> None:
        """The only one there can be, and its size is known: the section is part of the run."""
        assert isinstance(field.type, str)
        value, form = f"{owner}.{field.name}", FIXED[field.type]
        formats, values = function.take_run()
        with function.block(f"if {self._is_default(field, value)}:"):
            self._add_run(function, formats + "B", [*values, "0"])
        with function.block("else:"):
            section = ["1", str(field.tag), str(calcsize(">" + form)), value]
            self._add_run(function, f"{formats}BBB{form}", [*values, *section])

    def _write_tag_writer(self, tagged: list[Field]) -> str:
        self._tag_writers += 1
        name = f"tags_{self._tag_writers}"
        function = Function(f"{name}(o)")
        function.line("tags = []")
        for field in tagged:
            with function.block(f"if not ({self._is_left_out(field, f'o.{field.name}')}):"):
                function.line("out = []")
                function.line("add = out.append")
                self._write_field(function, field, f"o.{field.name}")
                self._flush(function)
                function.line(f"tags.append(({field.tag}, b''.join(out)))")
        function.line("return join_tags(tags)")
        self.code.add(function)
        return name

    # Fields

    def _write_field(self, function: Function, field: Field, value: str) -> None:
        nullable = field.nullable_in(self.version)
        if field.array:
            self._write_array(function, field, value, nullable)
        elif not isinstance(field.type, str):
            null = None if not nullable else 0 if field.tells_null else -1
            self._write_nested(function, field.type, value, null)
        elif field.type in FIXED:
            function.run.append((FIXED[field.type], value))
        else:
            self._write_sized(function, field, value, nullable)

    def _write_sized(self, function: Function, field: Field, value: str, nullable: bool) -> None:
        compact = self.flexible and field.compact
        chunk = function.name("s")
        to_bytes = f"{chunk} = {chunk}.encode()" if field.type == "string" else None
        function.line(f"{chunk} = {value}")
        size = self._measure(function, chunk, "b''", nullable, compact, to_bytes)
        self._flush_with_length(function, size, "h" if to_bytes else "i", compact)
        if field.type == "records":
            self._add_part(function, chunk, f"{size} > {int(compact)}")
        else:
            function.line(f"add({chunk})")

    def _measure(
        self,
        function: Function,
        chunk: str,
        empty: str,
        nullable: bool,
        compact: bool,
        convert: str | None = None,
    ) -> str:
        """Gives the name of the length to write for chunk, which becomes empty if it is None."""
        size = function.name("n")

        def measure() -> None:
            if convert is not None:
                function.line(convert)
            function.line(f"{size} = len({chunk})" + (" + 1" if compact else ""))

        if not nullable:
            measure()
            return size
        with function.block(f"if {chunk} is None:"):
            function.line(f"{chunk} = {empty}")
            function.line(f"{size} = {0 if compact else -1}")
        with function.block("else:"):
            measure()
        return size

    def _add_part(self, function: Function, chunk: str, test: str) -> None:
        with function.block(f"if {test}:"):
            function.line("parts.append(b''.join(out))")
            function.line("out.clear()")
            function.line(f"parts.append({chunk})")

    def _write_nested(
        self, function: Function, cls: type[Entity], value: str, null: int | None
    ) -> None:
        """`null` stands before what is None."""
        owner = function.name("o")
        function.line(f"{owner} = {value}")
        if null is None:
            self._write_struct(function, cls, owner)
            return
        function.run.append(("b", f"{null} if {owner} is None else 1"))
        self._flush(function)
        with function.block(f"if {owner} is not None:"):
            self._write_struct(function, cls, owner)
            self._flush(function)

    # Arrays

    def _write_array(self, function: Function, field: Field, value: str, nullable: bool) -> None:
        items = function.name("a")
        function.line(f"{items} = {value}")
        size = self._measure(function, items, "()", nullable, self.flexible)
        self._flush_with_length(function, size, "i", self.flexible)
        self._write_items(function, field, items)

    def _write_items(self, function: Function, field: Field, items: str) -> None:
        if isinstance(field.type, str) and field.type in FIXED:
            self._write_fixed_items(function, FIXED[field.type], items)
            return
        element = function.name("e")
        with function.block(f"for {element} in {items}:"):
            if isinstance(field.type, str):
                plain = field._replace(array=False, nullable=None)
                self._write_field(function, plain, element)
            else:
                self._write_struct(function, field.type, element)
            self._flush(function)

    def _write_fixed_items(self, function: Function, form: str, items: str) -> None:
        if form == "16s":
            function.line(f"add(pack('>' + '16s' * len({items}), *{items}))")
        else:
            few = self.code.bind(f"few_{form}", array_packers(form))
            function.line(f"n = len({items})")
            packed = f"{few}[n](*{items}) if n < {FEW} else pack(f'>{{n}}{form}', *{items})"
            function.line(f"add({packed})")


class EncoderWriter(StructWriter):
    def __init__(
        self, cls: type[Entity], version: int, *, parts: bool, prefix: int | None = None
    ) -> None:
        super().__init__(cls, version)
        self._write_entry(cls, parts, prefix)

    def _write_entry(self, cls: type[Entity], parts: bool, prefix: int | None) -> None:
        function = Function("encode(o)")
        if prefix is not None:
            function.run.append(("h", str(prefix)))
        function.line("out = []")
        function.line("add = out.append")
        if parts:
            function.line("parts = []")
        with function.block("try:"):
            self._write_struct(function, cls, "o")
            self._flush(function)
        with function.block("except UNFIT as error:"):
            label = f"{cls.__name__} v{self.version}"
            function.line(f"raise ValueError(f'{label} cannot be encoded: {{error}}') from error")
        if parts:
            with function.block("if out:"):
                function.line("parts.append(b''.join(out))")
            function.line("return parts")
        else:
            function.line("return b''.join(out)")
        self.code.add(function)


class PiecesEncoderWriter(StructWriter):
    def __init__(self, cls: type[Entity], version: int, array: str) -> None:
        super().__init__(cls, version)
        self._array = next(field for field in cls.SCHEMA if field.name == array)
        assert self._array.array and not self._array.tagged_in(version)
        self._write_elements()
        self._write_around(cls)

    def _write_elements(self) -> None:
        function = Function("elements(items)")
        function.line("out = []")
        function.line("add = out.append")
        self._write_items(function, self._array, "items")
        function.line("return b''.join(out)")
        self.code.add(function)

    def _write_around(self, cls: type[Entity]) -> None:
        function = Function("around(o, count)")
        function.line("out = []")
        function.line("add = out.append")
        self._write_struct(function, cls, "o")
        self._flush(function)
        function.line("return b''.join(out[:before]), b''.join(out[before:])")
        self.code.add(function)

    def _write_field(self, function: Function, field: Field, value: str) -> None:
        if field is not self._array:
            super()._write_field(function, field, value)
            return
        function.line(f"n = count + {int(self.flexible)}")
        self._flush_with_length(function, "n", "i", self.flexible)
        function.line("before = len(out)")
