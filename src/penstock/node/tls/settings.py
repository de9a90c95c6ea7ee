"""`ssl.*` of one listener: its own, `listener.name.<name>.ssl.*`, else those of all listeners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError
from penstock.settings.synonym import of_listener

PEM: Final = "PEM"
PKCS12: Final = "PKCS12"
JKS: Final = "JKS"
NO_AUTH: Final = "none"

_TYPES: Final = (PEM, PKCS12, JKS)
_VERSIONS: Final = ("TLSv1.2", "TLSv1.3")
_PROTOCOLS: Final = ("TLS", *_VERSIONS)


@dataclass(frozen=True, slots=True)
class Store:
    """Where keys or trusted certificates are: in a file, or in the settings themselves."""

    kind: str
    location: str | None
    password: str | None


@dataclass(frozen=True, slots=True)
class TlsSettings:
    keystore: Store
    key: str | None
    chain: str | None
    key_password: str | None
    truststore: Store
    trusted: str | None
    client_auth: str
    versions: tuple[str, ...]
    ciphers: tuple[str, ...]
    identification: str
    """How the one who is called is recognized: `https` compares its name, "" does not."""
    mapping_rules: str
    allows_name_changes: bool
    allows_host_changes: bool

    @property
    def files(self) -> tuple[str, ...]:
        stores = (self.keystore, self.truststore)
        return tuple(store.location for store in stores if store.location is not None)


_Read = Callable[[str], Any]


def tls_settings(config: BrokerConfig, listener: str, *, has_login: bool) -> TlsSettings:
    """SettingError names what cannot be done. Where clients log in by SASL, a certificate is asked
    for only if the listener's own setting says so, as in Kafka."""
    read: _Read = partial(config.of_listener, listener)
    auth = "ssl.client.auth"
    asked = config.get(of_listener(listener, auth)) if has_login else read(auth)
    return TlsSettings(
        keystore=_store(
            "ssl.keystore",
            read("ssl.keystore.type"),
            read("ssl.keystore.location"),
            read("ssl.keystore.password"),
        ),
        key=read("ssl.keystore.key"),
        chain=read("ssl.keystore.certificate.chain"),
        key_password=read("ssl.key.password"),
        truststore=_store(
            "ssl.truststore",
            read("ssl.truststore.type"),
            read("ssl.truststore.location"),
            read("ssl.truststore.password"),
        ),
        trusted=read("ssl.truststore.certificates"),
        client_auth=asked or NO_AUTH,
        versions=_versions(read),
        ciphers=tuple(read("ssl.cipher.suites") or ()),
        identification=_identification(read("ssl.endpoint.identification.algorithm")),
        mapping_rules=read("ssl.principal.mapping.rules"),
        allows_name_changes=bool(read("ssl.allow.dn.changes")),
        allows_host_changes=bool(read("ssl.allow.san.changes")),
    )


def _store(name: str, kind: str, location: str | None, password: str | None) -> Store:
    kind = kind.upper()
    if location is not None and kind not in _TYPES:
        raise SettingError(
            f"{name}.type={kind}: only {', '.join(_TYPES)} are read here; convert it with "
            f"keytool -importkeystore -srckeystore {location} -destkeystore new.p12 "
            f"-deststoretype {PKCS12}, and set {name}.type={PKCS12}"
        )
    return Store(kind, location, password)


def _versions(read: _Read) -> tuple[str, ...]:
    protocol = read("ssl.protocol")
    if protocol not in _PROTOCOLS:
        raise SettingError(f"ssl.protocol={protocol}: expected one of {', '.join(_PROTOCOLS)}")
    versions = tuple(read("ssl.enabled.protocols"))
    old = [each for each in versions if each not in _VERSIONS]
    if old or not versions:
        raise SettingError(
            f"ssl.enabled.protocols={','.join(versions)}: only {' and '.join(_VERSIONS)} are "
            "served; older ones are not safe"
        )
    return versions


def _identification(algorithm: str | None) -> str:
    found = (algorithm or "").lower()
    if found not in ("", "https"):
        raise SettingError(
            f"ssl.endpoint.identification.algorithm={algorithm}: expected https, or nothing for "
            "no check of the name"
        )
    return found
