"""The key map: right for any keys, and never larger than its budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.storage.compaction.key_map import (
    SLOT_BYTES,
    KeyMap,
    _digest_pair,
    _prime_below,
    _sip_pair,
)

PUTS = st.lists(st.tuples(st.binary(max_size=3), st.integers(0, 2**62)), max_size=200)


@given(PUTS)
def test_it_answers_like_a_dict(puts: list[tuple[bytes, int]]) -> None:
    keys, model = KeyMap(1 << 20, 200), {}
    for key, offset in puts:
        keys.put(key, offset)
        model[key] = offset
    assert keys.count == len(model)
    for key, offset in model.items():
        assert keys.get(key) == offset
    assert keys.get(b"never put") == -1


def test_it_stays_within_its_budget_whatever_the_number_of_keys() -> None:
    budget = 24_000
    keys = KeyMap(budget, 10**12)
    assert budget - 50 * SLOT_BYTES < keys.size_bytes <= budget
    number = 0
    while not keys.is_full:
        keys.put(b"key-%d" % number, number)
        number += 1
    assert keys.count == keys.capacity == number
    assert all(keys.get(b"key-%d" % at) == at for at in range(number))
    assert keys.get(b"key-%d" % number) == -1


def test_few_keys_take_little_memory() -> None:
    keys = KeyMap(16 * 1024 * 1024, 10)
    assert keys.size_bytes < 1000
    assert keys.capacity >= 10


def test_a_map_too_small_to_be_true_still_works() -> None:
    keys = KeyMap(0, 0)
    keys.put(b"", 0)
    assert keys.get(b"") == 0
    assert keys.capacity >= 1


def test_both_ways_to_hash_tell_keys_apart() -> None:
    keys = [b"", b"\x00", b"\x00\x00", b"a", b"b", b"a" * 1000]
    for pair in (_sip_pair, _digest_pair):
        assert len({pair(key) for key in keys}) == len(keys)
        assert pair(b"a") == pair(b"a")


def test_primes() -> None:
    assert [_prime_below(limit) for limit in (7, 8, 10, 12, 100)] == [7, 7, 7, 11, 97]
