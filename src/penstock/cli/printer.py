"""Records as printed lines: chosen fields, or JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from penstock.cli.progress import Progress
from penstock.cli.value import Format, encode_json, json_field, show_bytes


@dataclass(frozen=True, slots=True)
class RecordPrinter:
    key_format: Format = Format.text
    value_format: Format = Format.text
    keys: bool = False
    headers: bool = False
    meta: bool = False
    separator: bytes = b"\t"
    as_json: bool = False

    def print_all(self, records: Iterable[Any]) -> None:
        """A None among the records says that the reader waits: what is there must be seen."""
        out, show = sys.stdout.buffer, self.json_line if self.as_json else self.line
        progress = Progress("consumed", shares_terminal=True)
        interactive = sys.stdout.isatty()
        try:
            for record in records:
                if record is None:
                    out.flush()
                    continue
                out.write(show(record) + b"\n")
                progress.add()
                if interactive:
                    out.flush()
            out.flush()
        finally:
            progress.clear()

    def line(self, record: Any) -> bytes:
        fields = []
        if self.meta:
            moment = datetime.fromtimestamp(record.timestamp()[1] / 1000, UTC)
            shown = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            fields.append(f"{record.partition()}:{record.offset()}".encode())
            fields.append(shown.encode())
        if self.headers:
            pairs = record.headers() or ()
            fields.append(b",".join(_show_header(name, value) for name, value in pairs) or b"-")
        if self.keys:
            fields.append(show_bytes(record.key(), self.key_format))
        fields.append(show_bytes(record.value(), self.value_format))
        return self.separator.join(fields)

    def json_line(self, record: Any) -> bytes:
        headers = [
            {"name": name} | json_field("value", value, Format.text)
            for name, value in record.headers() or ()
        ]
        return encode_json(
            {
                "topic": record.topic(),
                "partition": record.partition(),
                "offset": record.offset(),
                "timestamp": record.timestamp()[1],
            }
            | json_field("key", record.key(), self.key_format)
            | json_field("value", record.value(), self.value_format)
            | {"headers": headers}
        )


def _show_header(name: str, value: bytes | None) -> bytes:
    return name.encode() if value is None else name.encode() + b"=" + value
