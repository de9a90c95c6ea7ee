"""Client settings in librdkafka's names, translated for Java's clients."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from penstock.pipelines.error import RunError

_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_CA, _CHAIN, _KEY = "ssl.ca.location", "ssl.certificate.location", "ssl.key.location"
_TRANSLATED = (
    _CA,
    _CHAIN,
    _KEY,
    "sasl.username",
    "sasl.password",
    "sasl.mechanisms",
    "enable.ssl.certificate.verification",
)


def java_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """The same for Java; what both call by one name passes through."""
    java = {key: value for key, value in settings.items() if key not in _TRANSLATED}
    if _CA in settings:
        java |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": settings[_CA]}
    java |= _keystore(settings)
    if "sasl.username" in settings:
        java["sasl.jaas.config"] = _login(settings)
    if settings.get("enable.ssl.certificate.verification") == "false":
        java["ssl.endpoint.identification.algorithm"] = ""
    mechanism = settings.get("sasl.mechanisms")
    return java | ({"sasl.mechanism": mechanism} if mechanism else {})


def _keystore(settings: Mapping[str, str]) -> dict[str, str]:
    """Java reads a key and its certificates from one file; of two, what is in them is given."""
    if _KEY not in settings:
        return {}
    if _CHAIN not in settings:
        return {"ssl.keystore.type": "PEM", "ssl.keystore.location": settings[_KEY]}
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.key": _text(settings[_KEY]),
        "ssl.keystore.certificate.chain": _text(settings[_CHAIN]),
    }


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{path} cannot be read: {error}") from error


def _login(settings: Mapping[str, str]) -> str:
    mechanism = settings.get("sasl.mechanisms") or settings.get("sasl.mechanism") or "PLAIN"
    module = _LOGIN_MODULES.get(mechanism, _LOGIN_MODULES["PLAIN"])
    name, word = (
        settings.get(key, "").replace("\\", "\\\\").replace('"', '\\"')
        for key in ("sasl.username", "sasl.password")
    )
    return f'{module} required username="{name}" password="{word}";'
