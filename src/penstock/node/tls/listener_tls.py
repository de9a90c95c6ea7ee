"""The keys and certificates of one listener: those in force, and whether others may follow them.

Looked at again and again: a file that changed, or another setting, is taken for the connections to
come. What cannot be used is refused, logged once and counted; the old ones stay in force.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from penstock.handlers.call import ClientState
from penstock.model.principal import USER, Principal
from penstock.model.security_protocol import SecurityProtocol
from penstock.network.tls.handshakes import NoPrincipal
from penstock.network.tls.server import ServerTls
from penstock.node.tls.context import client_context, server_context
from penstock.node.tls.settings import TlsSettings, tls_settings
from penstock.node.tls.store import key_pair, trusted_certificates
from penstock.security.certificate import Certificate
from penstock.security.der import DerError
from penstock.security.principal_mapping import MappingError, PrincipalMapping
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError
from penstock.telemetry.log import get_logger

_DAY_S = 86400.0

Stamp = tuple[tuple[int, int, int] | None, ...]
"""Of files: another one as soon as one of them is changed, replaced or gone."""

log = get_logger("network")


class Material(NamedTuple):
    """What was made of the settings and files."""

    server: ssl.SSLContext | None
    """None where there is no key: such a node only calls others."""
    client: ssl.SSLContext
    certificate: Certificate | None
    mapping: PrincipalMapping


class ListenerTls:
    """`config` gives the settings in force. SettingError where the first ones cannot be used."""

    def __init__(
        self, listener: str, protocol: SecurityProtocol, config: Callable[[], BrokerConfig]
    ) -> None:
        self.listener = listener
        self.refused_count = 0
        self._has_login = protocol.has_login
        self._config = config
        self._settings = self._read()
        self._stamp = _stamp(self._settings)
        try:
            self._material = _material(self._settings)
        except SettingError as error:
            raise SettingError(f"listener {listener}: {error}") from None

    def as_server(self) -> ServerTls:
        if self._material.server is None:
            raise SettingError(
                f"listener {self.listener}: no key to encrypt with; set ssl.keystore.type=PEM and "
                "ssl.keystore.location, or ssl.keystore.key and ssl.keystore.certificate.chain"
            )
        return ServerTls(self.listener, self._server, self._introduce)

    def client(self) -> ssl.SSLContext:
        """For calls to the listener of this name on another node."""
        return self._material.client

    def days_left(self, now_s: float) -> float | None:
        certificate = self._material.certificate
        if certificate is None:
            return None
        return (certificate.not_after.timestamp() - now_s) / _DAY_S

    def look(self) -> None:
        """Whether something changed, and whether it can be used."""
        try:
            settings = self._read()
            stamp = _stamp(settings)
            if settings == self._settings and stamp == self._stamp:
                return
            self._settings, self._stamp = settings, stamp
            material = _material(settings)
            _check_change(self._material, material, settings)
        except SettingError as error:
            self.refused_count += 1
            log.error(
                "TLS certificates refused, the old ones stay in force",
                listener=self.listener,
                reason=error,
            )
            return
        self._material = material
        expires = "" if material.certificate is None else material.certificate.not_after
        log.info("TLS certificates changed", listener=self.listener, expires=expires)

    def check(self, config: BrokerConfig) -> None:
        """SettingError where these settings could not be used."""
        settings = tls_settings(config, self.listener, has_login=self._has_login)
        if settings != self._settings:
            _check_change(self._material, _material(settings), settings)

    def _read(self) -> TlsSettings:
        return tls_settings(self._config(), self.listener, has_login=self._has_login)

    def _server(self) -> ssl.SSLContext:
        assert self._material.server is not None
        return self._material.server

    def _introduce(self, client: ClientState, certificate: bytes | None) -> None:
        if certificate is None or self._has_login:
            return
        try:
            subject = Certificate(certificate).subject
        except DerError as error:
            raise NoPrincipal(f"the certificate cannot be read: {error}") from None
        name = self._material.mapping.name_of(subject)
        if name is None:
            raise NoPrincipal(f"no rules apply to {subject}")
        client.principal = Principal(USER, name)


def _material(settings: TlsSettings) -> Material:
    pair, trusted = key_pair(settings), trusted_certificates(settings)
    try:
        certificate = None
        if pair is not None:
            end = "-----END CERTIFICATE-----"
            first = pair.chain[: pair.chain.index(end) + len(end)]
            certificate = Certificate(ssl.PEM_cert_to_DER_cert(first))
            certificate.not_after  # noqa: B018 - reads it, or fails now
        return Material(
            None if pair is None else server_context(settings, pair, trusted),
            client_context(settings, pair, trusted),
            certificate,
            PrincipalMapping(settings.mapping_rules),
        )
    except (DerError, ValueError) as error:
        raise SettingError(f"the certificate cannot be read: {error}") from None
    except MappingError as error:
        raise SettingError(f"ssl.principal.mapping.rules: {error}") from None


def _check_change(old: Material, new: Material, settings: TlsSettings) -> None:
    """Kafka's rules: a mistaken file must not make another node, or other hosts, of this one."""
    if new.certificate is None and old.certificate is not None:
        raise SettingError(
            "Cannot remove the SSL keystore from an existing listener for which a keystore was "
            "configured."
        )
    if old.certificate is None:
        if new.certificate is not None:
            raise SettingError(
                "Cannot add SSL keystore to an existing listener for which no keystore was "
                "configured."
            )
        return
    assert new.certificate is not None
    before, after = old.certificate, new.certificate
    if before.subject.lower() != after.subject.lower() and not settings.allows_name_changes:
        raise SettingError(
            f"Keystore DistinguishedName does not match: existing={before.subject}, "
            f"new={after.subject}; ssl.allow.dn.changes=true allows it"
        )
    missing = before.alternative_names - after.alternative_names
    if missing and not settings.allows_host_changes:
        raise SettingError(
            "Keystore SubjectAltNames do not match: the new certificate is for fewer hosts; "
            "ssl.allow.san.changes=true allows it"
        )


def _stamp(settings: TlsSettings) -> Stamp:
    return tuple(_stamp_of(path) for path in settings.files)


def _stamp_of(path: str) -> tuple[int, int, int] | None:
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
