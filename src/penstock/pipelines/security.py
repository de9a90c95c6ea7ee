"""Client settings in librdkafka's names, translated for Java's clients."""

from __future__ import annotations

from collections.abc import Mapping

_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_PEM = {
    "ssl.ca.location": ("ssl.truststore.type", "ssl.truststore.location"),
    "ssl.key.location": ("ssl.keystore.type", "ssl.keystore.location"),
}


def java_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """The same for Java; what both call by one name passes through."""
    java = {key: value for key, value in settings.items() if not _is_translated(key)}
    for name, (kind, location) in _PEM.items():
        if name in settings:
            java |= {kind: "PEM", location: settings[name]}
    if "sasl.username" in settings:
        java["sasl.jaas.config"] = _login(settings)
    if settings.get("enable.ssl.certificate.verification") == "false":
        java["ssl.endpoint.identification.algorithm"] = ""
    mechanism = settings.get("sasl.mechanisms")
    return java | ({"sasl.mechanism": mechanism} if mechanism else {})


def _is_translated(key: str) -> bool:
    own = ("sasl.username", "sasl.password", "sasl.mechanisms", "ssl.certificate.location")
    return key in _PEM or key in own or key == "enable.ssl.certificate.verification"


def _login(settings: Mapping[str, str]) -> str:
    mechanism = settings.get("sasl.mechanisms") or settings.get("sasl.mechanism") or "PLAIN"
    module = _LOGIN_MODULES.get(mechanism, _LOGIN_MODULES["PLAIN"])
    name, word = (
        settings.get(key, "").replace("\\", "\\\\").replace('"', '\\"')
        for key in ("sasl.username", "sasl.password")
    )
    return f'{module} required username="{name}" password="{word}";'
