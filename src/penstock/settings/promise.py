"""Settings that promise what is not there, and what to say when somebody sets one.

Which settings these are is declared in the tables, as PROMISE. A value that says what the node does
anyway, such as the default, promises nothing.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from penstock.settings.key import PROMISE, Key


class _Lack(NamedTuple):
    prefixes: tuple[str, ...]
    fact: str
    advice: str


_REMOVE: Final = "remove it to start without"

_LACKS: Final = (
    _Lack(("ssl.",), "TLS is OpenSSL's here, without Java's classes and providers", _REMOVE),
    _Lack(
        ("sasl.jaas.config",),
        "logins are set for a mechanism of a listener",
        "write listener.name.<listener>.<mechanism>.sasl.jaas.config",
    ),
    _Lack(("sasl.kerberos.",), "Kerberos is not served here", _REMOVE),
    _Lack(("sasl.",), "this part of SASL is not served here", _REMOVE),
    _Lack(("principal.", "security.providers"), "no Java class is loaded here", _REMOVE),
    _Lack(("listener.name.",), "settings of a single listener are not kept here", _REMOVE),
    _Lack(
        ("metric.reporters", "kafka.metrics.reporters"),
        "no Java class is loaded here",
        "remove it, and collect metrics from `--metrics`",
    ),
    _Lack(("remote.",), "there is no tiered storage here yet", _REMOVE),
    _Lack(("transaction.",), "two-phase commit is not served here", _REMOVE),
    _Lack(("",), "no Java class is loaded here, so nothing would be enforced", _REMOVE),
)


def is_promised(key: Key, text: str) -> bool:
    """Whether the value asks for more than the node does."""
    if key.effect != PROMISE or not text.strip():
        return False
    return not key.is_default(text)


def broken_promise(key: Key, text: str) -> str:
    """One line: the setting, what is not there, what to do."""
    lack = next(one for one in _LACKS if key.name.startswith(one.prefixes))
    shown = key.name if key.is_sensitive else f"{key.name}={text.strip()}"
    return f"{shown}: {lack.fact}; {lack.advice}"
