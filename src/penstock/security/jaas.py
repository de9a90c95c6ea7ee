"""`sasl.jaas.config`: a login module and its options, in the form that Java gives them.

    org.apache.kafka.common.security.scram.ScramLoginModule required username="a" password="b";

The module's class is looked at by its last name alone: no Java is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from penstock.model.error import PenstockError

USER_PREFIX: Final = "user_"

_FLAGS: Final = ("REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL")
_TOKEN: Final = re.compile(
    r"""\s+ | //[^\n]* | /\*.*?\*/
    | "(?P<double>(?:\\.|[^"\\\n])*)" | '(?P<single>(?:\\.|[^'\\\n])*)'
    | (?P<word>[\w.$\-]+) | (?P<sign>[=;])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
_QUOTED: Final = "\0"
"""Before a text that was quoted: one of a single sign is not that sign."""
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v"}


class JaasError(PenstockError):
    """Never repeats what was written: there are passwords in it."""


class JaasConfig(NamedTuple):
    module: str
    options: Mapping[str, str]

    @property
    def users(self) -> dict[str, str]:
        """Passwords by name, of `user_<name>` options."""
        return {
            name.removeprefix(USER_PREFIX): password
            for name, password in self.options.items()
            if name.startswith(USER_PREFIX)
        }


def parse_jaas(text: str) -> JaasConfig:
    tokens = _tokens(text)
    module = next(tokens, None)
    if module is None:
        raise JaasError("Login module not specified in JAAS config")
    flag = next(tokens, None)
    if flag is None:
        raise JaasError("Login module control flag not specified in JAAS config")
    if flag.removeprefix(_QUOTED).upper() not in _FLAGS:
        raise JaasError("Invalid login module control flag in JAAS config")
    options = dict(_options(tokens))
    if next(tokens, None) is not None:
        raise JaasError("JAAS config property contains several login modules, should be 1 module")
    return JaasConfig(module.removeprefix(_QUOTED), options)


def _options(tokens: Iterator[str]) -> Iterator[tuple[str, str]]:
    for token in tokens:
        if token == ";":
            return
        name = token.removeprefix(_QUOTED)
        value = next(tokens, None) if next(tokens, None) == "=" else None
        if value is None or value == ";":
            raise JaasError(f"Value not specified for key '{name}' in JAAS config")
        yield name, value.removeprefix(_QUOTED)
    raise JaasError("JAAS config entry not terminated by semi-colon")


def _tokens(text: str) -> Iterator[str]:
    pos = 0
    while pos < len(text):
        found = _TOKEN.match(text, pos)
        if found is None:
            raise JaasError(f"JAAS config cannot be read from character {pos + 1} on")
        pos = found.end()
        quoted = found["double"] if found["double"] is not None else found["single"]
        if quoted is not None:
            yield _QUOTED + _ESCAPE.sub(_unescaped, quoted)
        elif found["word"] or found["sign"]:
            yield found["word"] or found["sign"]


def _unescaped(found: re.Match[str]) -> str:
    escaped = found[1]
    if escaped[0] in "01234567":
        return chr(int(escaped, 8) & 0xFF)
    return _ESCAPED.get(escaped, escaped)
