"""Byte for byte what kio writes, for every entity and version it knows."""

from __future__ import annotations

import pytest
from hypothesis import given

from penstock.protocol.codec import decode, encode
from penstock.protocol.entity import Entity
from tests.wire.kio_oracle import drawable, kio_class, kio_encode
from tests.wire.test_wire_round_trip import quick
from tests.wire.wire_strategy import all_versions, name_of

KNOWN = [pair for pair in all_versions() if kio_class(*pair) is not None]


@pytest.mark.parametrize(("cls", "version"), KNOWN, ids=name_of)
def test_same_bytes(cls: type[Entity], version: int) -> None:
    kio_cls = kio_class(cls, version)
    assert kio_cls is not None

    @quick
    @given(drawable(cls, version, kio_cls))
    def check(message: Entity) -> None:
        theirs = kio_encode(message, version, kio_cls)
        assert encode(message, version) == theirs
        decoded, behind = decode(cls, version, theirs)
        assert encode(decoded, version) == theirs
        assert behind == len(theirs)

    check()


def test_kio_knows_what_matters() -> None:
    """The comparison would pass by comparing nothing."""
    names = {cls.NAME for cls, _ in KNOWN}
    assert len(KNOWN) > 500
    assert {"FetchRequest", "FetchResponse", "ProduceRequest", "MetadataResponse"} <= names
