"""Java's properties format."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.settings.properties import PropertiesProblem, parse_properties


def pairs(text: str) -> list[tuple[str, str]]:
    return [(found.key, found.value) for found in parse_properties(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", [("a", "b")]),
        ("a = b ", [("a", "b ")]),
        ("a:b", [("a", "b")]),
        ("a b", [("a", "b")]),
        ("a\t:\tb", [("a", "b")]),
        ("a==b", [("a", "=b")]),
        ("a", [("a", "")]),
        ("a=", [("a", "")]),
        ("=b", [("", "b")]),
        ("  a=b", [("a", "b")]),
        ("# a=b\n! c=d\n\n   # e\nf=g", [("f", "g")]),
        ("a=b#c", [("a", "b#c")]),
        ("a=b,\\\n   c,\\\r\n\td", [("a", "b,c,d")]),
        ("a=b\\\n#c", [("a", "b#c")]),
        ("a=b\\\\\nc=d", [("a", "b\\"), ("c", "d")]),
        ("a=b\\", [("a", "b")]),
        ("a\\=b\\:c\\ d=e", [("a=b:c d", "e")]),
        ("a=\\t\\n\\r\\f\\q\\\\", [("a", "\t\n\r\fq\\")]),
        ("a=\\u0041\\u00e9", [("a", "A\u00e9")]),
        ("a=1\ra=2\r\na=3", [("a", "1"), ("a", "2"), ("a", "3")]),
        ("", []),
        ("\\\n", []),
        ("a=1\n\\\n\nb=2", [("a", "1"), ("b", "2")]),
    ],
)
def test_lines(text: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(text) == expected


def test_lines_are_counted_from_the_first_of_a_continued_one() -> None:
    found = parse_properties("# c\n\na=1,\\\n2\nb=3")
    assert [(item.key, item.line) for item in found] == [("a", 3), ("b", 5)]


@pytest.mark.parametrize("text", ["x=1\na=\\u12", "x=1\na=\\uzzzz", "x=1\na=\\u+123"])
def test_malformed_escapes_name_their_line(text: str) -> None:
    with pytest.raises(PropertiesProblem) as caught:
        parse_properties(text)
    assert caught.value.line == 2


def escape(text: str) -> str:
    named = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f"}
    out = [
        named.get(char) or (f"\\{char}" if char in "\\=:#! " else char)
        for char in text
    ]  # fmt: skip
    return "".join(out)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(st.lists(st.tuples(texts.filter(bool), texts), max_size=6), st.sampled_from("=: "))
def test_whatever_is_escaped_comes_back(items: list[tuple[str, str]], separator: str) -> None:
    text = "\n".join(f"{escape(key)}{separator}{escape(value)}" for key, value in items)
    assert pairs(text) == items


@given(st.text(max_size=60))
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        parse_properties(text)
    except PropertiesProblem:
        pass
