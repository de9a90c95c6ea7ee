"""The file that says to whom a data directory belongs: `meta.properties`, as Kafka writes it.

Owns the file; what is in it, and what it must be, is the node's affair.
"""

from __future__ import annotations

from collections.abc import Mapping

from penstock.storage.damage import DamagedFile, read_small
from penstock.storage.disk import Disk, replace_file
from penstock.storage.names import META_PROPERTIES
from penstock.storage.properties import decode_properties, encode_properties


def read_meta_properties(disk: Disk, directory: str) -> dict[str, str] | None:
    """None if there is no such file yet."""
    try:
        data = read_small(disk, f"{directory}/{META_PROPERTIES}")
    except FileNotFoundError:
        return None
    try:
        return decode_properties(data.decode())
    except UnicodeDecodeError as error:
        raise DamagedFile(f"no text: {error}") from error


def write_meta_properties(disk: Disk, directory: str, properties: Mapping[str, str]) -> None:
    data = encode_properties(dict(properties)).encode()
    replace_file(disk, f"{directory}/{META_PROPERTIES}", data)
