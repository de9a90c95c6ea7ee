"""A certificate authority for playgrounds and tests: it signs for nodes and clients.

Keys are of the curve P-256: a handshake with one costs a tenth of one with RSA.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

ORGANIZATION = "Penstock playground"
DAYS = 365
AUTHORITY_DAYS = 3650
_EARLY = timedelta(hours=1)
"""A clock that is behind accepts a new certificate too."""


class Issued(NamedTuple):
    """In PEM; the key is not encrypted."""

    key: str
    certificate: str

    @property
    def keystore(self) -> str:
        """Both, as `ssl.keystore.location` takes them."""
        return self.key + self.certificate


class Authority:
    def __init__(self, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
        self._key = key
        self._certificate = certificate

    @classmethod
    def create(cls, name: str = "Penstock playground CA") -> Authority:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _name(name, ())
        builder = _builder(subject, subject, key, timedelta(days=AUTHORITY_DAYS))
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        builder = builder.add_extension(_key_usage(signs_certificates=True), True)
        return cls(key, builder.sign(key, hashes.SHA256()))

    @classmethod
    def load(cls, issued: Issued) -> Authority:
        key = form.load_pem_private_key(issued.key.encode(), None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        return cls(key, x509.load_pem_x509_certificate(issued.certificate.encode()))

    @property
    def own(self) -> Issued:
        return Issued(_key_text(self._key), _text(self._certificate))

    @property
    def certificate(self) -> str:
        return _text(self._certificate)

    def issue(
        self,
        name: str,
        *,
        hosts: Iterable[str] = (),
        units: Iterable[str] = (),
        valid: timedelta = timedelta(days=DAYS),
    ) -> Issued:
        """For a node, where hosts are named, else for a client."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_name(name, units), self._certificate.subject, key, valid)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
        builder = builder.add_extension(_key_usage(signs_certificates=False), True)
        named = [_host(each) for each in hosts]
        # Nodes also call each other.
        uses = [ExtendedKeyUsageOID.CLIENT_AUTH]
        if named:
            uses.append(ExtendedKeyUsageOID.SERVER_AUTH)
            builder = builder.add_extension(x509.SubjectAlternativeName(named), False)
        builder = builder.add_extension(x509.ExtendedKeyUsage(uses), False)
        return Issued(_key_text(key), _text(builder.sign(self._key, hashes.SHA256())))


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, valid: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(now, now + valid) - _EARLY)
        .not_valid_after(now + valid)
    )


def _name(name: str, units: Iterable[str]) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, ORGANIZATION),
            *(x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, unit) for unit in units),
            x509.NameAttribute(NameOID.COMMON_NAME, name),
        ]
    )


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _key_text(key: ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(
        form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()
    ).decode()


def _text(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(form.Encoding.PEM).decode()
