"""Every entity in every version comes back as it went."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from penstock.protocol.codec import decode, encode, encode_parts
from penstock.protocol.entity import Entity
from tests.wire.wire_strategy import all_versions, entities, name_of

quick = settings(
    max_examples=5,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize(("cls", "version"), all_versions(), ids=name_of)
def test_round_trip(cls: type[Entity], version: int) -> None:
    @quick
    @given(entities(cls, version))
    def check(message: Entity) -> None:
        data = encode(message, version)
        assert decode(cls, version, data) == (message, len(data))
        assert b"".join(encode_parts(message, version)) == data  # type: ignore[arg-type]
        framed = memoryview(b"xyz" + data + b"tail")
        assert decode(cls, version, framed, 3) == (message, len(data) + 3)
        assert decode(cls, version, bytearray(data)) == (message, len(data))

    check()


def test_every_api_has_both_sides() -> None:
    from penstock.protocol.api_table import APIS

    for spec in APIS:
        for cls in (spec.request_class(), spec.response_class()):
            assert spec.key == cls.API_KEY
            assert (spec.min_version, spec.max_version) == cls.VERSIONS


@settings(max_examples=50, derandomize=True, database=None)
@given(st.integers(0, 2**32 - 1))
def test_varints(value: int) -> None:
    from penstock.protocol.wire import read_varint, varint

    data = varint(value)
    assert read_varint(data, 0) == (value, len(data))
