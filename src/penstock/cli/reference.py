"""Client settings that say where their value is: `-X 'sasl.password=${env:PASSWORD}'`.

Kafka's providers by the names that its documentation gives them, so that a secret is neither in
the list of processes nor in a profile. Looked up whenever a command runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from penstock.cli.failure import UsageFailure

_PROVIDERS: Final = {"env": "EnvVar", "file": "File", "directory": "Directory"}


def resolved(settings: Mapping[str, str], source: str) -> dict[str, str]:
    """With the values themselves. A file that is one value ends with a line that is not part of
    it. `source` is where the settings were found, for messages."""
    if not any("${" in value for value in settings.values()):
        return dict(settings)
    from penstock.settings.error import SettingError
    from penstock.settings.provider import References

    classes = {
        f"config.providers.{name}.class": f"{each}ConfigProvider"
        for name, each in _PROVIDERS.items()
    }
    references = References(",".join(_PROVIDERS), classes)
    try:
        return {
            key: references.resolve(key, value, source).rstrip("\r\n")
            for key, value in settings.items()
        }
    except SettingError as error:
        raise UsageFailure(str(error)) from None
