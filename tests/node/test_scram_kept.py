"""SCRAM credentials outlive a crash, and only what cannot be turned back is kept of a password."""

from __future__ import annotations

from base64 import b64decode
from hashlib import pbkdf2_hmac
from pathlib import Path

from penstock.controller.decoy import DECOY_SECRET
from penstock.protocol.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from penstock.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from penstock.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from penstock.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
)
from tests.node.node_kit import running
from tests.node.wire_kit import Wire

# The example of RFC 7677: user "user", password "pencil".
SALT = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
STORED_KEY = b64decode("WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=")
SERVER_KEY = b64decode("wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=")
SHA_256 = 1
BROKER = 4


def test_credentials_are_there_after_a_crash(tmp_path: Path) -> None:
    salted = pbkdf2_hmac("sha256", b"pencil", SALT, 4096)
    wanted = ScramCredentialUpsertion(
        name="user", mechanism=SHA_256, iterations=4096, salt=SALT, salted_password=salted
    )
    with running(tmp_path / "data") as node:
        with Wire(node.address) as wire:
            made = wire.call(AlterUserScramCredentialsRequest(upsertions=[wanted]), 0)
            assert made.results[0].error_code == 0
            secret = node.node._image.configs.broker(None)[DECOY_SECRET]
            resource = DescribeConfigsResource(resource_type=BROKER, resource_name="")
            asked = DescribeConfigsRequest(resources=[resource])
            shown = {one.name: one.value for one in wire.call(asked, 4).results[0].configs}
            assert DECOY_SECRET not in shown
            again = wire.call(AlterUserScramCredentialsRequest(upsertions=[wanted]), 0)
            assert again.results[0].error_code == 0
            # Replaces all that is set for all brokers, as `kafka-configs` before Kafka 4 did.
            wanted_values = {"log.cleaner.threads": "2", "min.insync.replicas": "1"}
            configs = [AlterableConfig(name=key, value=text) for key, text in wanted_values.items()]
            everywhere = AlterConfigsResource(resource_type=BROKER, configs=configs)
            replaced = wire.call(AlterConfigsRequest(resources=[everywhere]), 2)
            assert replaced.responses[0].error_code == 0
        node.abandon()
    log = b"".join(path.read_bytes() for path in tmp_path.rglob("*.log"))
    assert salted not in log
    with running(tmp_path / "data") as node, Wire(node.address) as wire:
        (found,) = wire.call(DescribeUserScramCredentialsRequest(users=None), 0).results
        assert [(one.mechanism, one.iterations) for one in found.credential_infos] == [(1, 4096)]
        assert node.node._image.configs.broker(None)[DECOY_SECRET] == secret
        kept = node.node._image.security.scram_credentials["user", SHA_256]
        assert (kept.salt, kept.stored_key, kept.server_key) == (SALT, STORED_KEY, SERVER_KEY)
