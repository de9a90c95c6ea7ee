"""`ssl.*`: where keys come from, what contradicts what, and what is refused by name."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.serialization import pkcs12

from penstock.cli.security.authority import Authority, Issued
from penstock.handlers.call import ClientState
from penstock.model.security_protocol import SecurityProtocol
from penstock.node.tls.listener_tls import ListenerTls
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.create()


@pytest.fixture(scope="module")
def issued(authority: Authority) -> Issued:
    return authority.issue("node", hosts=("127.0.0.1",))


def tls_of(
    settings: dict[str, object], protocol: SecurityProtocol = SecurityProtocol.SSL
) -> ListenerTls:
    config = BrokerConfig({key: str(value) for key, value in settings.items()})
    return ListenerTls("OUTSIDE", protocol, lambda: config)


def complaint(settings: dict[str, object]) -> str:
    with pytest.raises(SettingError) as caught:
        tls_of(settings).as_server()
    return str(caught.value)


def inline(issued: Issued, **more: object) -> dict[str, object]:
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.key": issued.key,
        "ssl.keystore.certificate.chain": issued.certificate,
    } | {name.replace("_", "."): value for name, value in more.items()}


def test_pem_in_the_settings_also_in_one_line(authority: Authority, issued: Issued) -> None:
    flat = Issued(issued.key.replace("\n", " "), issued.certificate.replace("\n", " "))
    trusted = {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": authority.certificate.replace("\n", " "),
        "ssl.client.auth": "required",
    }
    server = tls_of(inline(flat) | trusted).as_server().context()
    assert server.verify_mode == ssl.CERT_REQUIRED and len(server.get_ca_certs()) == 1


def test_a_listener_has_its_own(issued: Issued) -> None:
    own = {f"listener.name.outside.{name}": value for name, value in inline(issued).items()}
    auth = {"listener.name.outside.ssl.client.auth": "requested", "ssl.client.auth": "required"}
    assert tls_of(own | auth).as_server().context().verify_mode == ssl.CERT_OPTIONAL


def test_clients_that_log_in_are_not_asked_for_certificates_unless_the_listener_says_so(
    issued: Issued,
) -> None:
    general = inline(issued) | {"ssl.client.auth": "required"}
    sasl = SecurityProtocol.SASL_SSL
    assert tls_of(general, sasl).as_server().context().verify_mode == ssl.CERT_NONE
    own = general | {"listener.name.outside.ssl.client.auth": "required"}
    assert tls_of(own, sasl).as_server().context().verify_mode == ssl.CERT_REQUIRED


def test_pkcs12(tmp_path: Path, authority: Authority, issued: Issued) -> None:
    key = form.load_pem_private_key(issued.key.encode(), None)
    certificate = x509.load_pem_x509_certificate(issued.certificate.encode())
    own = x509.load_pem_x509_certificate(authority.certificate.encode())
    password = form.BestAvailableEncryption(b"secret")
    keystore, truststore = tmp_path / "node.p12", tmp_path / "trusted.p12"
    keystore.write_bytes(
        pkcs12.serialize_key_and_certificates(b"node", key, certificate, [own], password)  # type: ignore[arg-type]
    )
    truststore.write_bytes(
        pkcs12.serialize_java_truststore([pkcs12.PKCS12Certificate(own, b"ca")], password)
    )
    settings: dict[str, object] = {
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": keystore,
        "ssl.keystore.password": "secret",
        "ssl.truststore.type": "PKCS12",
        "ssl.truststore.location": truststore,
        "ssl.truststore.password": "secret",
        "ssl.client.auth": "required",
    }
    assert len(tls_of(settings).as_server().context().get_ca_certs()) == 1
    assert "another password" in complaint(settings | {"ssl.keystore.password": "wrong"})


def keytool(*words: str) -> None:
    subprocess.run(["keytool", *words, "-noprompt"], check=True, capture_output=True)


@pytest.mark.java
@pytest.mark.skipif(shutil.which("keytool") is None, reason="Java's keytool makes the stores")
def test_jks_as_javas_tool_makes_it(tmp_path: Path, authority: Authority, issued: Issued) -> None:
    key = form.load_pem_private_key(issued.key.encode(), None)
    certificate = x509.load_pem_x509_certificate(issued.certificate.encode())
    own = x509.load_pem_x509_certificate(authority.certificate.encode())
    made, ca = tmp_path / "node.p12", tmp_path / "ca.pem"
    made.write_bytes(
        pkcs12.serialize_key_and_certificates(
            b"node",
            key,
            certificate,
            [own],
            form.BestAvailableEncryption(b"secret"),  # type: ignore[arg-type]
        )
    )
    ca.write_text(authority.certificate)
    stores = {name: str(tmp_path / name) for name in ("node.jks", "trusted.jks")}
    keytool(
        *("-importkeystore", "-srckeystore", str(made), "-srcstorepass", "secret"),
        *("-destkeystore", stores["node.jks"], "-deststoretype", "JKS"),
        *("-deststorepass", "of the store", "-destkeypass", "of the key", "-srcalias", "node"),
    )
    keytool(
        *("-importcert", "-file", str(ca), "-alias", "ca", "-storetype", "JKS"),
        *("-keystore", stores["trusted.jks"], "-storepass", "of the others"),
    )
    settings: dict[str, object] = {
        "ssl.keystore.location": stores["node.jks"],
        "ssl.keystore.password": "of the store",
        "ssl.key.password": "of the key",
        "ssl.truststore.location": stores["trusted.jks"],
        "ssl.truststore.password": "of the others",
        "ssl.client.auth": "required",
    }
    assert len(tls_of(settings).as_server().context().get_ca_certs()) == 1
    unguarded = {key: value for key, value in settings.items() if "truststore.p" not in key}
    assert len(tls_of(unguarded).as_server().context().get_ca_certs()) == 1
    assert "another password" in complaint(settings | {"ssl.keystore.password": "wrong"})
    assert "another password" in complaint(settings | {"ssl.key.password": "wrong"})
    # Newer tools write PKCS12 into files of any name; Java and we look into them.
    as_it_is = {"ssl.keystore.location": made, "ssl.keystore.password": "secret"}
    tls_of(as_it_is).as_server()

    whole = Path(stores["trusted.jks"]).read_bytes()
    cut = tmp_path / "cut.jks"
    for size in (*range(4, 40), len(whole) // 2, len(whole) - 1):
        cut.write_bytes(whole[:size])
        assert str(cut) in complaint(unguarded | {"ssl.truststore.location": cut})


def test_an_encrypted_key(issued: Issued) -> None:
    key = form.load_pem_private_key(issued.key.encode(), None)
    locked = key.private_bytes(
        form.Encoding.PEM, form.PrivateFormat.PKCS8, form.BestAvailableEncryption(b"secret")
    ).decode()
    settings = inline(Issued(locked, issued.certificate))
    tls_of(settings | {"ssl.key.password": "secret"}).as_server()
    assert "set ssl.key.password" in complaint(settings)
    assert "cannot be used" in complaint(settings | {"ssl.key.password": "wrong"})


def test_versions_and_ciphers(issued: Issued) -> None:
    server = tls_of(inline(issued)).as_server().context()
    assert server.minimum_version == ssl.TLSVersion.TLSv1_2
    only = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
    server = tls_of(inline(issued) | {"ssl.cipher.suites": only}).as_server().context()
    assert server.maximum_version == ssl.TLSVersion.TLSv1_2
    names = {each["name"] for each in server.get_ciphers() if each["protocol"] != "TLSv1.3"}
    assert names == {"ECDHE-ECDSA-AES256-GCM-SHA384"}


def test_the_name_of_whom_a_node_calls_is_checked_unless_told_otherwise(issued: Issued) -> None:
    assert tls_of(inline(issued)).client().check_hostname
    unchecked = inline(issued) | {"ssl.endpoint.identification.algorithm": ""}
    assert not tls_of(unchecked).client().check_hostname
    assert tls_of(unchecked).client().verify_mode == ssl.CERT_REQUIRED


def test_the_principal_of_a_certificate(authority: Authority, issued: Issued) -> None:
    client = authority.issue("alice", units=("pay",))
    der = ssl.PEM_cert_to_DER_cert(client.certificate)
    for rules, expected in (
        ("DEFAULT", "User:CN=alice,OU=pay,O=Penstock playground"),
        ("RULE:^CN=(.*?),.*$/$1/U", "User:ALICE"),
    ):
        tls = tls_of(inline(issued) | {"ssl.principal.mapping.rules": rules}).as_server()
        state = ClientState("127.0.0.1:1")
        tls.introduce(state, der)
        assert str(state.principal) == expected
    anonymous = ClientState("127.0.0.1:1")
    tls.introduce(anonymous, None)
    assert str(anonymous.principal) == "User:ANONYMOUS"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "no key to encrypt with"),
        (
            {"ssl.keystore.location": "/x", "ssl.keystore.type": "BKS"},
            "ssl.keystore.type=BKS: only PEM, PKCS12, JKS",
        ),
        ({"ssl.keystore.type": "PEM", "ssl.keystore.location": "/no"}, "/no: cannot be read"),
        ({"ssl.keystore.key": "x"}, "only for PEM, but key store type is JKS"),
        ({"ssl.keystore.type": "PEM", "ssl.keystore.key": "x"}, "chain is not specified"),
        ({"ssl.keystore.certificate.chain": "x"}, "private key is not specified"),
        ({"ssl.enabled.protocols": "TLSv1.1,TLSv1.2"}, "older ones are not safe"),
        ({"ssl.protocol": "SSLv3"}, "ssl.protocol=SSLv3"),
        ({"ssl.endpoint.identification.algorithm": "ldaps"}, "expected https"),
    ],
)
def test_what_is_refused(settings: dict[str, object], said: str) -> None:
    assert said in complaint(settings)


def test_what_is_refused_of_keys_that_are_good(issued: Issued) -> None:
    other = Authority.create().issue("node")
    assert "cannot be used: key values mismatch" in complaint(
        inline(Issued(other.key, issued.certificate))
    )
    for settings, said in (
        ({"ssl.cipher.suites": "TLS_AES_256_GCM_SHA384"}, "cannot be chosen one by one"),
        ({"ssl.cipher.suites": "TLS_RSA_WITH_NULL_SHA"}, "TLS_RSA_WITH_NULL_SHA"),
        ({"ssl.principal.mapping.rules": "x"}, "ssl.principal.mapping.rules: Invalid rule"),
    ):
        assert said in complaint(inline(issued) | settings)
