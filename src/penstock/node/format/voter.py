"""The first voters of a quorum that can change later (KIP-853), as `--initial-controllers` names
them: `ID@HOST:PORT:DIRECTORY`."""

from __future__ import annotations

import re
from typing import NamedTuple

from penstock.model.id import id_from_str
from penstock.node.address import Address, AddressError, parse_address
from penstock.node.format.error import FormatError
from penstock.node.listener_config import NOT_ROUTABLE
from penstock.node.quorum_config import parse_node_id

_OPTION = "--initial-controllers"
_ID_LENGTH = 22
_ID = re.compile(r"[A-Za-z0-9_-]{22}(==)?")
RESERVED_IDS = 100
"""As many directory ids, from zero on, have a meaning of their own."""


class InitialVoter(NamedTuple):
    id: int
    address: Address
    directory_id: bytes


def parse_initial_voters(text: str) -> tuple[InitialVoter, ...]:
    voters = tuple(sorted(_voter(each.strip()) for each in text.split(",") if each.strip()))
    if not voters:
        raise FormatError(f"{_OPTION} names nobody: name ID@HOST:PORT:DIRECTORY of each controller")
    for field, values in (
        ("node", [str(each.id) for each in voters]),
        ("directory", [each.directory_id.hex() for each in voters]),
    ):
        if len(set(values)) < len(values):
            raise FormatError(f"{_OPTION} names one {field} twice: each controller has its own")
    return voters


def is_reserved(directory_id: bytes) -> bool:
    return int.from_bytes(directory_id) < RESERVED_IDS


def _voter(text: str) -> InitialVoter:
    id_text, at, rest = text.partition("@")
    address, _, directory = rest.rpartition(":")
    node_id = parse_node_id(id_text)
    if not at or node_id is None or not address:
        raise _malformed(text, "expected ID@HOST:PORT:DIRECTORY")
    try:
        found = parse_address(address, _OPTION, default_host="")
    except AddressError:
        raise _malformed(text, "expected ID@HOST:PORT:DIRECTORY") from None
    if found.host in ("", *NOT_ROUTABLE) or not found.port:
        raise _malformed(text, "nobody can connect there; name the controller's host and port")
    return InitialVoter(node_id, found, _directory_id(text, directory))


def _directory_id(text: str, directory: str) -> bytes:
    found = id_from_str(directory[:_ID_LENGTH]) if _ID.fullmatch(directory) else None
    if found is None or is_reserved(found):
        raise _malformed(
            text,
            f"{directory!r} is no id of a directory; `penstock storage random-uuid` makes one",
        )
    return found


def _malformed(text: str, why: str) -> FormatError:
    return FormatError(f"{_OPTION} {text}: {why}")
