"""The logins that the settings ask for, listener by listener.

Built from settings alone. What is not served is refused by name, and so is what would send
passwords in the clear, unless a setting asks for exactly that.
"""

from __future__ import annotations

from typing import Final

from penstock.model.security_protocol import SecurityProtocol
from penstock.security.config import SaslConfig
from penstock.security.jaas import JaasConfig, JaasError, parse_jaas
from penstock.security.mechanism import GSSAPI, OAUTHBEARER, PLAIN, SERVED, in_kafka_order
from penstock.settings.broker import JAAS_CONFIG
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError
from penstock.settings.synonym import of_listener

MECHANISMS: Final = "sasl.enabled.mechanisms"
UNENCRYPTED: Final = "penstock.sasl.plain.unencrypted.listeners"


def sasl_config(config: BrokerConfig, listener: str, protocol: SecurityProtocol) -> SaslConfig:
    """SettingError for a listener on which nobody could log in, or not safely."""
    mechanisms: list[str] = config.of_listener(listener, MECHANISMS)
    if not mechanisms:
        raise SettingError(f"listener {listener}: {MECHANISMS} names none; name SCRAM-SHA-512")
    for mechanism in mechanisms:
        _check_served(listener, mechanism)
    passwords: dict[str, str] = {}
    if PLAIN in mechanisms:
        _check_encrypted(config, listener, protocol)
        passwords = _passwords(config, listener)
    if OAUTHBEARER in mechanisms:
        from penstock.node.oauth.config import oauth_config

        oauth_config(config, listener)
        _check_library(listener)
    return SaslConfig(
        mechanisms=tuple(in_kafka_order(mechanisms)),
        passwords=passwords,
        receive_bytes_max=int(config.of_listener(listener, "sasl.server.max.receive.size")),
        reauth_ms={
            each: int(config.of_listener(listener, "connections.max.reauth.ms", each))
            for each in mechanisms
        },
        failure_delay_ms=int(config.get("connection.failed.authentication.delay.ms")),
    )


def sends_passwords(config: BrokerConfig, listener: str, protocol: SecurityProtocol) -> bool:
    """Whether anybody on the way can read them."""
    return not protocol.is_encrypted and PLAIN in config.of_listener(listener, MECHANISMS)


def jaas_of(config: BrokerConfig, listener: str, mechanism: str) -> JaasConfig | None:
    name = of_listener(listener, JAAS_CONFIG, mechanism)
    text: str | None = config.get(name) if config.is_set(name) else None
    if text is None:
        return None
    try:
        return parse_jaas(text)
    except JaasError as error:
        raise SettingError(f"{name}: {error}") from error


def _check_served(listener: str, mechanism: str) -> None:
    if mechanism == GSSAPI:
        raise SettingError(
            f"listener {listener}: {MECHANISMS} is GSSAPI, its default, which is not served; set "
            f"{of_listener(listener, MECHANISMS)}=SCRAM-SHA-512"
        )
    if mechanism not in SERVED:
        raise SettingError(
            f"listener {listener}: {MECHANISMS} names {mechanism}, which is not served; name some "
            f"of {', '.join(SERVED)}"
        )


def _check_encrypted(config: BrokerConfig, listener: str, protocol: SecurityProtocol) -> None:
    asked = {name.upper() for name in config.get(UNENCRYPTED)}
    if not protocol.is_encrypted and listener not in asked:
        raise SettingError(
            f"listener {listener}: PLAIN sends passwords as they are, and {protocol.name} is not "
            f"encrypted; use SASL_SSL or SCRAM, or set {UNENCRYPTED}={listener}"
        )


def _check_library(listener: str) -> None:
    from importlib.util import find_spec

    if find_spec("jwt") is None or find_spec("cryptography") is None:
        raise SettingError(
            f"listener {listener}: OAUTHBEARER needs the extra `security`: "
            "pip install 'penstock[security]'"
        )


def _passwords(config: BrokerConfig, listener: str) -> dict[str, str]:
    found = jaas_of(config, listener, PLAIN)
    if found is None or not found.users:
        name = of_listener(listener, JAAS_CONFIG, PLAIN)
        raise SettingError(
            f'listener {listener}: PLAIN has no users; set {name}=... required user_NAME="...";'
        )
    return found.users
