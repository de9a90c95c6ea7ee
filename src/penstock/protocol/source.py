"""Lines of Python being written: what the decoder and encoder compilers share.

Fixed-width values next to each other gather in a run, which becomes one struct call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from struct import Struct

from penstock.protocol.entity import ZERO_OF_TYPE, Entity, Field

FIXED = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
"""struct format of each fixed-width type."""

_ZEROS: dict[str, object] = {
    "bool": False,
    "float64": 0.0,
    "string": "",
    "bytes": b"",
    "records": b"",
    "uuid": bytes(16),
}

Namespace = dict[str, object]


def default_of(field: Field) -> object:
    """The default of any field that is neither an array nor a struct."""
    if field.default is not ZERO_OF_TYPE:
        return field.default
    assert isinstance(field.type, str)
    if field.type == "records" and field.nullable:
        return None
    return _ZEROS.get(field.type, 0)


FEW = 17
"""Arrays shorter than this have a ready struct, which saves formatting and looking one up."""


@cache
def array_packers(form: str) -> tuple[Callable[..., bytes], ...]:
    return tuple(Struct(f">{count}{form}").pack for count in range(FEW))


@cache
def array_unpackers(form: str) -> tuple[Callable[..., tuple[object, ...]], ...]:
    return tuple(Struct(f">{count}{form}").unpack_from for count in range(FEW))


def has_records(cls: type[Entity]) -> bool:
    return any(
        field.type == "records" or (not isinstance(field.type, str) and has_records(field.type))
        for field in cls.SCHEMA
    )


def is_flexible(cls: type[Entity], version: int) -> bool:
    return cls.FLEXIBLE is not None and version >= cls.FLEXIBLE


class Code:
    """The functions of one codec and the names they use."""

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace
        self._functions: list[str] = []

    def add(self, function: Function) -> None:
        self._functions.append(function.text())

    def bind(self, name: str, value: object) -> str:
        self.namespace[name] = value
        return name

    def bind_class(self, cls: type[Entity]) -> str:
        return self.bind(cls.__name__, cls)

    def unpacker(self, formats: str) -> str:
        name = "unpack_" + formats.replace("?", "t")
        if name not in self.namespace:
            self.bind(name, Struct(">" + formats).unpack_from)
        return name

    def packer(self, formats: str) -> str:
        name = "pack_" + formats.replace("?", "t")
        if name not in self.namespace:
            self.bind(name, Struct(">" + formats).pack)
        return name

    def text(self) -> str:
        return "\n".join(self._functions)

    def build(self, entry: str, label: str) -> Callable[..., object]:
        exec(compile(self.text(), f"<{label}>", "exec"), self.namespace)  # our own text, no input
        function = self.namespace[entry]
        assert callable(function)
        return function


class Function:
    """One function being written; knows its indentation and hands out local names."""

    def __init__(self, signature: str) -> None:
        self._lines = [f"def {signature}:"]
        self._depth = 1
        self._names = 0
        self.run: list[tuple[str, str]] = []
        """Pending fixed-width values: struct format, and target or expression."""

    def line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.line(head)
        self._depth += 1
        before = len(self._lines)
        yield
        if len(self._lines) == before:
            self.line("pass")
        self._depth -= 1

    def name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"

    def take_run(self) -> tuple[str, list[str]]:
        formats = "".join(item[0] for item in self.run)
        values = [item[1] for item in self.run]
        self.run.clear()
        return formats, values

    def text(self) -> str:
        return "\n".join(self._lines)
