"""Requests that no client would send, made from the schemas: odd values, then odd bytes.

The same seed makes the same requests.
"""

from __future__ import annotations

import random
from struct import pack
from typing import Any

from penstock.protocol.entity import Entity, Field
from penstock.protocol.frame import API_BY_KEY, encode_request
from penstock.records.builder import build_batch
from penstock.records.record import Record

TEXTS = (
    *("", "t", "t", "t", "g", "g", "no such thing", "__consumer_offsets", "__transaction_state"),
    *("../../t", "a" * 300, "\0", "ä" * 60, "consumer", "range", "retention.ms", "cleanup.policy"),
    *("compact", "1", "-1", "-9223372036854775809", "NaN", "*"),
)
WIDTHS = {"int8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64}
SIZE_LIES = (b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x80\x80\x80\x80\x80")


class RequestMaker:
    def __init__(self, seed: int, api_keys: list[int]) -> None:
        self._random = random.Random(seed)
        self._api_keys = api_keys

    def frame(self) -> bytes:
        """A whole frame with its size: half of them as an encoder makes them, half damaged."""
        key = self._random.choice(self._api_keys)
        spec = API_BY_KEY[key]
        version = self._random.randint(spec.min_version, spec.max_version)
        request = self._entity(spec.request_class(), version)
        whole = encode_request(self._random.getrandbits(31), version, request, "hostile")
        if self._random.random() < 0.5:
            return whole
        body = self._damaged(whole[4:])
        return pack(">i", len(body)) + body

    def _entity(self, cls: type[Entity], version: int) -> Entity:
        fields = {
            field.name: self._value(field, version)
            for field in cls.SCHEMA
            if field.in_version(version)
        }
        return cls(**fields)

    def _value(self, field: Field, version: int) -> Any:
        if field.nullable_in(version) and self._random.random() < 0.2:
            return None
        if field.array:
            count = self._random.choice((0, 1, 1, 2, 20))
            return [self._single(field, version) for _ in range(count)]
        return self._single(field, version)

    def _single(self, field: Field, version: int) -> Any:
        kind = field.type
        if not isinstance(kind, str):
            return self._entity(kind, version)
        if kind == "string":
            return self._random.choice(TEXTS)
        if kind == "bool":
            return self._random.random() < 0.5
        if kind == "float64":
            return self._random.choice((0.0, -1.0, 1e308, float("inf"), float("nan")))
        if kind == "uuid":
            return self._random.choice((bytes(16), self._random.randbytes(16)))
        if kind == "records":
            return self._records()
        if kind == "bytes":
            return self._random.randbytes(self._random.choice((0, 1, 30, 2000)))
        return self._number(kind)

    def _number(self, kind: str) -> int:
        width = WIDTHS[kind]
        low, high = (
            (0, 2**width - 1) if kind[0] == "u" else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
        )
        near = [each for each in (-2, -1, 0, 1, 2, 100, 5000) if low <= each <= high]
        return self._random.choice((*near, *near, low, high, self._random.randint(low, high)))

    def _records(self) -> bytes:
        made = bytes(build_batch([Record(0, 1_700_000_000_000, b"k", b"value", [])]))
        return self._random.choice((made, self._damaged(made), self._random.randbytes(80)))

    def _damaged(self, data: bytes) -> bytes:
        damaged = bytearray(data)
        for _ in range(self._random.randint(1, 4)):
            at = self._random.randrange(len(damaged)) if damaged else 0
            match self._random.randrange(5):
                case 0:
                    damaged[at : at + 1] = self._random.randbytes(1)
                case 1:
                    del damaged[at:]
                case 2:
                    del damaged[at : at + self._random.randint(1, 8)]
                case 3:
                    damaged[at:at] = self._random.randbytes(self._random.randint(1, 40))
                case 4:
                    lie = self._random.choice(SIZE_LIES)
                    damaged[at : at + len(lie)] = lie
        return bytes(damaged)
