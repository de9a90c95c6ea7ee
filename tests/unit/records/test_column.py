"""Records as columns: the same as records one by one, compiled or not."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock.records.walk
from penstock.records import column
from penstock.records.builder import build_batch
from penstock.records.header import parse_header
from penstock.records.record import Record, read_body

Fields = tuple[bytes | None, bytes | None]


def _plain() -> ModuleType:
    """The source, whether or not it was compiled."""
    source = penstock.records.walk.__file__.rpartition("/")[0] + "/column.py"
    spec = importlib.util.spec_from_file_location("plain_column", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["plain_column"] = module
    spec.loader.exec_module(module)
    return module


PLAIN = _plain()


def room(size: int, form: str) -> memoryview:
    return memoryview(bytearray(size)).cast(form)


def read(module: Any, body: bytes, count: int, first: int = 0, last: int = 1 << 40) -> list[Any]:
    offsets, times = room(count * 8, "q"), room(count * 8, "q")
    keys, values = room(count * 16, "I"), room(count * 16, "I")
    key_bits, value_bits = room(count // 8 + 1, "B"), room(count // 8 + 1, "B")
    reader = module.ColumnReader(count, offsets, times, keys, key_bits, values, value_bits)
    reader.read(body, count, 100, 1000, -1, first, last, 0)
    columns = [
        pa.Array.from_buffers(
            pa.binary_view(),
            reader.count,
            [pa.py_buffer(bits), pa.py_buffer(views), pa.py_buffer(body)],
        ).to_pylist()
        for views, bits in ((keys, key_bits), (values, value_bits))
    ]
    rows = range(reader.count)
    return [(offsets[i], times[i] // 1000, columns[0][i], columns[1][i]) for i in rows]


FIELD = st.none() | st.binary(max_size=40)


@pytest.mark.parametrize("module", [column, PLAIN], ids=["installed", "plain"])
@settings(max_examples=50, deadline=None)
@given(fields=st.lists(st.tuples(FIELD, FIELD), min_size=1, max_size=30))
def test_columns_are_the_records(module: Any, fields: list[Fields]) -> None:
    records = [
        Record(100 + index, 1000 + 7 * index, key, value, [("h", b"x")])
        for index, (key, value) in enumerate(fields)
    ]
    batch = build_batch(records, base_offset=100)
    body = bytes(read_body(batch, parse_header(batch)))
    expected = [(each.offset, each.timestamp, each.key, each.value) for each in records]
    assert read(module, body, len(records)) == expected
    part = [each for each in expected if 102 <= each[0] < 105]
    assert read(module, body, len(records), 102, 105) == part


@pytest.mark.parametrize("module", [column, PLAIN], ids=["installed", "plain"])
def test_what_does_not_hold_together(module: Any) -> None:
    batch = build_batch([Record(100, 1000, b"key", b"value" * 5, [])], base_offset=100)
    body = bytes(read_body(batch, parse_header(batch)))
    for end in range(len(body)):
        with pytest.raises(ValueError):
            read(module, body[:end], 1)
    longer = bytearray(body)
    longer[4] = 0x7E
    with pytest.raises(ValueError, match="a field is longer than its record"):
        read(module, bytes(longer), 1)
