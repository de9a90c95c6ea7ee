"""Values that settings take from elsewhere: `${file:/run/secrets/broker.properties:password}`.

Kafka's `config.providers`, by the names of its three classes: a line of a properties file, a whole
file of a directory, a variable of the environment. A reference to nothing is an error: nobody
means the text `${...}` as a password. A name that is no provider's is left as it is, as in Kafka.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from penstock.settings.error import SettingError
from penstock.settings.properties import PropertiesProblem, parse_properties
from penstock.settings.synonym import PROVIDER_PREFIX

_PACKAGE: Final = "org.apache.kafka.common.config.provider."
_REFERENCE: Final = re.compile(r"\$\{([^}:]*):(?:([^}]*?):)?([^}]*)\}")

Look = Callable[[str, str], str]
"""(path, key) -> value"""


class References:
    """To the providers of these names; `settings` are all there are, unresolved."""

    def __init__(self, names: str, settings: Mapping[str, str]) -> None:
        listed = [name.strip() for name in names.split(",")]
        self._looks = {name: _provider(name, settings) for name in listed if name}

    def resolve(self, key: str, text: str, source: str) -> str:
        """The value itself. `source` is where the setting was found, for messages."""
        if "${" not in text or key.startswith(PROVIDER_PREFIX):
            return text

        def found(match: re.Match[str]) -> str:
            look = self._looks.get(match[1])
            if look is None:
                return match[0]
            try:
                return look(match[2] or "", match[3])
            except _NotFoundError as error:
                raise SettingError(f"{source}: {key}={match[0]}: {error}") from None

        return _REFERENCE.sub(found, text)


class _NotFoundError(Exception):
    pass


def _provider(name: str, settings: Mapping[str, str]) -> Look:
    class_key = f"{PROVIDER_PREFIX}{name}.class"
    class_name = settings.get(class_key, "").strip()
    if not class_name:
        return _no_provider(class_key)
    make = _CLASSES.get(class_name.removeprefix(_PACKAGE))
    if make is None:
        known = ", ".join(_PACKAGE + each for each in _CLASSES)
        raise SettingError(f"{class_key}={class_name}: no such provider here; there are {known}")
    prefix = f"{PROVIDER_PREFIX}{name}.param."
    return make(
        {key.removeprefix(prefix): text for key, text in settings.items() if key.startswith(prefix)}
    )


def _no_provider(class_key: str) -> Look:
    """Kafka takes the name alone. Whoever refers to it needs more."""

    def look(path: str, key: str) -> str:
        raise _NotFoundError(f"{class_key} is not set")

    return look


def _file_provider(params: Mapping[str, str]) -> Look:
    check = _allowed_paths(params)

    def look(path: str, key: str) -> str:
        text = _read(check(path))
        try:
            lines = {line.key: line.value for line in parse_properties(text)}
        except PropertiesProblem as problem:
            raise _NotFoundError(f"line {problem.line} of the file: {problem}") from None
        if key not in lines:
            raise _NotFoundError(f"the file has no line {key}=")
        return lines[key]

    return look


def _directory_provider(params: Mapping[str, str]) -> Look:
    check = _allowed_paths(params)

    def look(path: str, key: str) -> str:
        if Path(key).name != key:
            raise _NotFoundError(f"{key!r} is no name of a file in the directory")
        return _read(check(path) / key)

    return look


def _variable_provider(params: Mapping[str, str]) -> Look:
    pattern = params.get("allowlist.pattern")
    try:
        allowed = None if pattern is None else re.compile(pattern)
    except re.error as error:
        raise SettingError(f"allowlist.pattern={pattern}: {error}") from None

    def look(path: str, key: str) -> str:
        if path:
            raise _NotFoundError("expected ${provider:VARIABLE}, without a path")
        if allowed is not None and not allowed.fullmatch(key):
            raise _NotFoundError(f"allowlist.pattern does not allow {key}")
        value = os.environ.get(key)
        if value is None:
            raise _NotFoundError(f"the environment has no {key}")
        return value

    return look


_CLASSES: Final[Mapping[str, Callable[[Mapping[str, str]], Look]]] = {
    "FileConfigProvider": _file_provider,
    "DirectoryConfigProvider": _directory_provider,
    "EnvVarConfigProvider": _variable_provider,
}


def _allowed_paths(params: Mapping[str, str]) -> Callable[[str], Path]:
    """`allowed.paths`: absolute ones, with what is below them; all where it is not set."""
    listed = params.get("allowed.paths")
    allowed = None if listed is None else [Path(each.strip()) for each in listed.split(",")]

    def check(text: str) -> Path:
        path = Path(os.path.normpath(text))
        if allowed is not None and not any(path.is_relative_to(each) for each in allowed):
            raise _NotFoundError(f"allowed.paths does not allow {text}")
        return path

    return check


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise _NotFoundError(f"cannot read {path}: {reason}") from None
