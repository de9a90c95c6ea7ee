"""From the name in a certificate to a principal: `ssl.principal.mapping.rules`, as Kafka has them.

    RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/,RULE:^CN=(.*?),.*$/$1@example/L,DEFAULT

The first rule whose pattern is the whole name decides.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from penstock.model.error import PenstockError

_RULE: Final = r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?).*?|(.*?)"
_SPLIT: Final = re.compile(rf"\s*({_RULE})\s*(?:,\s*|$)")
_PARSE: Final = re.compile(_RULE)
_NAMED_GROUP: Final = re.compile(r"\(\?<(?=[A-Za-z])")
_REFERENCE: Final = re.compile(r"\\(.)|\$(\d+)", re.DOTALL)


class MappingError(PenstockError):
    """Rules that cannot be read."""


class Rule(NamedTuple):
    pattern: re.Pattern[str] | None
    """None: the name as it is."""
    replacement: str
    case: str

    def apply(self, name: str) -> str | None:
        if self.pattern is None:
            return name
        if self.pattern.fullmatch(name) is None:
            return None
        # All matches, as Java does it: `.*` also finds the nothing behind the name.
        result = self.pattern.sub(lambda found: _replaced(self.replacement, found), name)
        if self.case == "L":
            return result.lower()
        return result.upper() if self.case == "U" else result


class PrincipalMapping:
    def __init__(self, rules: str) -> None:
        self._text = rules
        self._rules = [rule for text in _split(rules) if (rule := _parse(text)) is not None]

    def name_of(self, distinguished_name: str) -> str | None:
        """None where no rule applies: then it is nobody."""
        for rule in self._rules:
            name = rule.apply(distinguished_name)
            if name is not None:
                return name
        return None


def _split(rules: str) -> list[str]:
    return [found.group(1) for found in _SPLIT.finditer(rules.strip())]


def _parse(text: str) -> Rule | None:
    found = _PARSE.fullmatch(text)
    if found is None:
        raise MappingError(f"Invalid rule: {text}")
    default, pattern, replacement, case, _ = found.groups()
    if default is not None:
        return Rule(None, "", "")
    if pattern is None:
        if text:
            raise MappingError(f"Invalid rule: `{text}`")
        return None
    try:
        return Rule(re.compile(_NAMED_GROUP.sub("(?P<", pattern)), replacement, case)
    except re.error as error:
        raise MappingError(f"Invalid rule: {text}: {error}") from None


def _replaced(replacement: str, found: re.Match[str]) -> str:
    """Java's `$1`; a number of no group takes fewer digits, and stands for itself in the end."""
    groups = len(found.groups())

    def referred(reference: re.Match[str]) -> str:
        escaped, number = reference.groups()
        if escaped is not None:
            return str(escaped)
        digits, rest = str(number), ""
        while int(digits) > groups and len(digits) > 1:
            digits, rest = digits[:-1], digits[-1] + rest
        if int(digits) > groups:
            return f"${digits}{rest}"
        return (found.group(int(digits)) or "") + rest

    return _REFERENCE.sub(referred, replacement)
