"""Records as printed lines: chosen fields, or JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from penstock.cli.interrupt import check_interrupt
from penstock.cli.output import show_time
from penstock.cli.progress import Progress
from penstock.cli.template import Template, show_headers
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
    template: Template | None = None

    def print_all(self, records: Iterable[Any]) -> None:
        """A None among the records says that the reader waits: what is there must be seen."""
        out, show = sys.stdout.buffer, self._form()
        progress = Progress("consumed", shares_terminal=True)
        interactive = sys.stdout.isatty()
        try:
            for record in records:
                if record is None:
                    out.flush()
                    check_interrupt()
                    continue
                out.write(show(record))
                progress.add()
                if interactive:
                    out.flush()
        finally:
            progress.clear()
            # Also when interrupted: what was read is seen, and a group commits only what was.
            out.flush()

    def _form(self) -> Callable[[Any], bytes]:
        if self.template is not None:
            return self.template.render
        line = self.json_line if self.as_json else self.line
        return lambda record: line(record) + b"\n"

    def line(self, record: Any) -> bytes:
        fields = []
        if self.meta:
            fields.append(f"{record.partition()}:{record.offset()}".encode())
            fields.append(show_time(record.timestamp()[1], "milliseconds").encode())
        if self.headers:
            fields.append(show_headers(record.headers()) or b"-")
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
