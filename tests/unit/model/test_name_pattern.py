"""Regular expressions of subscriptions: RE2's syntax, whole names, in time that cannot explode."""

from __future__ import annotations

import re
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model.pattern import Pattern, PatternProblem

MATCHES = [
    ("orders-.*", "orders-eu", "xorders-eu"),
    ("a|b|cd", "cd", "c"),
    ("", "", "a"),
    ("^foo$", "foo", "foo1"),
    (r"\Afoo\z", "foo", "foo1"),
    ("(?i)Foo.*", "fOOd", "f"),
    ("a(?i)b", "aB", "AB"),
    ("(?i:a)b", "Ab", "AB"),
    ("(?i)[a-c]+", "ABc", "ABd"),
    ("a{2,3}", "aaa", "aaaa"),
    ("a{2}", "aa", "a"),
    ("a{2,}", "aaaaa", "a"),
    ("a{0}b", "b", "ab"),
    ("a{,5}", "a{,5}", "aa"),
    ("x{a}", "x{a}", "x"),
    ("[a-c]+[^a-c]", "abx", "aba"),
    ("[]a]+", "]a", "b"),
    ("[a-]+", "a-", "b"),
    (r"[\d.]+", "1.2", "a"),
    (r"[^\W]+", "a_1", "a-1"),
    (r"\bfoo\b-bar", "foo-bar", "foobar"),
    (r"foo\Bbar", "foobar", "foo-bar"),
    (r"[[:alpha:]]+\d{2}", "ab12", "1b12"),
    (r"[[:^alpha:]]+", "12", "a"),
    ("(?P<x>ab)+(?<y>c)", "ababc", "abab"),
    (r"\Qa.b\E+", "a.bb", "axb"),
    (r"\Qa.b", "a.b", "axb"),
    ("a?b??c*?", "bcc", "bb"),
    (r"\p{Lu}\pL\P{N}", "Ax-", "Ax1"),
    (r"\x41\x{42}\060\.", "AB0.", "AB0x"),
    (r"(?s).\C", "\na", "a"),
    ("(?m)^a$", "a", "b"),
    ("((a|b)*c|d)+", "abcdabc", "abcab"),
]

REFUSED = [
    "(", "a)", "(a", "*a", "a**", "a*+", "+", "[a", "[z-a]", "[a-\\d]", "[[:none:]]", "a\\",
    "(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", "(?>a)", "(?P=x)", "(?#no)", "(?P<1>a)", "(?<x",
    r"\1", r"\k<a>", r"\Z", r"\p{Greek}", r"\xzz", r"\x{110000}", "a{1001}", "a{3,2}",
    "((a{1000}){1000})", "(" * 200 + ")" * 200,
]  # fmt: skip


@pytest.mark.parametrize(("text", "good", "bad"), MATCHES)
def test_what_matches(text: str, good: str, bad: str) -> None:
    pattern = Pattern(text)
    assert pattern.matches(good)
    assert not pattern.matches(bad)


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(PatternProblem):
        Pattern(text)


def test_expressions_that_would_take_a_backtracker_years() -> None:
    begin = perf_counter()
    for text in ("(a+)+b", "(a|aa)+b", "(a*)*b", "(.*a){12}b"):
        assert not Pattern(text).matches("a" * 249)
    assert perf_counter() - begin < 10


_leaf = st.sampled_from(["a", "b", "c", ".", "[ab]", "[^a]", r"\w", "^", "$", r"\b", r"\B"])
_tree = st.recursive(
    _leaf,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda both: f"(?:{both[0]}|{both[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}"])).map(
            lambda both: f"({both[0]}){both[1]}"
        ),
    ),
    max_leaves=8,
)


@settings(max_examples=400, deadline=None)
@given(_tree, st.lists(st.text("abc-", min_size=1, max_size=6), max_size=6))
def test_agrees_with_pythons_where_both_know_the_syntax(text: str, names: list[str]) -> None:
    pattern, oracle = Pattern(text), re.compile(text.replace("$", r"\Z"))
    for name in names:
        assert pattern.matches(name) == (oracle.fullmatch(name) is not None), name
