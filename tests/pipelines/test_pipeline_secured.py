"""A pipeline against brokers with TLS, logins and ACLs that allow exactly what it needs."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.cli.acl.argument import EntryOptions, ResourceOptions, entries_of
from penstock.cli.acl.entry import read_acls
from penstock.cli.acl.review import UNUSED, review, uses_of
from penstock.cli.acl.role import ROLE, add_grants, give
from penstock.cli.audit import parse_line
from penstock.cli.cluster import Cluster
from penstock.cli.operator.link import Link
from penstock.cli.profile import Target
from penstock.testing.broker import Broker
from penstock.testing.port import HOST, free_port
from tests.patience import wait_until
from tests.pipelines.test_pipeline_run import big_orders, order
from tests.security.sasl_kit import ALICE, set_password
from tests.security.tls_kit import Keys

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
MECHANISM = "SCRAM-SHA-512"
PATIENCE_S = 60


def settings(keys: Keys, ports: dict[str, int], log: Path) -> dict[str, object]:
    return keys.node_settings | {
        "listeners": ",".join(f"{name}://{HOST}:{port}" for name, port in ports.items()),
        "listener.name.ssl.ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^CN=(.*?),.*$/$1-by-certificate/,DEFAULT",
        "sasl.enabled.mechanisms": MECHANISM,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "penstock.audit.file": str(log),
        "penstock.audit.interval.ms": 1000,
        "num.partitions": 2,
    }


def grant_as_the_page_says(link: Link, users: list[str]) -> None:
    """What it types after `penstock roles add`."""
    lines = [each for each in PAGE.read_text().splitlines() if "roles add big-orders" in each]
    assert lines
    for line in lines:
        words = shlex.split(line)[4:]
        flags = next(index for index, word in enumerate(words) if word.startswith("--"))
        operations, option, name = words[:flags], words[flags], words[flags + 1]
        about = ResourceOptions(**{option[2:].replace("-", "_"): name})
        how = EntryOptions(prefixed="--prefixed" in words)
        acls = entries_of(f"{ROLE}big-orders", operations, about, how)
        add_grants(link, "big-orders", acls)
    give(link, "big-orders", users)


@pytest.mark.penstock_only("it is asked of Penstock, with its audit log")
def test_certificates_and_scram_with_what_the_page_grants(
    tmp_path: Path, pipeline_run: Callable[..., Any]
) -> None:
    keys, log = Keys(tmp_path / "keys"), tmp_path / "audit.jsonl"
    ports = {name: free_port() for name in ("PLAINTEXT", "SSL", "SASL_SSL")}
    address = {name: f"{HOST}:{port}" for name, port in ports.items()}
    with Broker(tmp_path / "data", settings(keys, ports, log)):
        set_password(address["PLAINTEXT"], *ALICE)
        link = Link(Cluster(Target(address["PLAINTEXT"])))
        grant_as_the_page_says(link, ["User:alice", "User:alice-by-certificate"])
        open_client = {"bootstrap.servers": address["PLAINTEXT"], "log_level": 0}
        admin = AdminClient(open_client)
        for made in admin.create_topics(
            [NewTopic(name, 2, 1) for name in ("orders", "big-orders")]
        ).values():
            made.result(PATIENCE_S)

        def produce(*values: str) -> None:
            producer = Producer(open_client)
            for value in values:
                producer.produce("orders", value)
            assert producer.flush(PATIENCE_S) == 0

        produce(order(0, 500), order(1, 5), "no order")
        mutual = keys.librdkafka(keys.client)
        first = pipeline_run(big_orders(), bootstrap_servers=address["SSL"], kafka=mutual)
        assert (first.input_rows, first.output_rows, first.dead_letters) == (3, 1, 1)

        produce(order(2, 500))
        login = keys.librdkafka() | {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": MECHANISM,
            "sasl.username": ALICE[0],
            "sasl.password": ALICE[1],
        }
        second = pipeline_run(big_orders(), bootstrap_servers=address["SASL_SSL"], kafka=login)
        assert (second.input_rows, second.output_rows) == (1, 1)

        def unused() -> list[str]:
            lines = filter(None, map(parse_line, log.read_text().splitlines()))
            acls = read_acls(link, principal="User:alice-by-certificate")
            found = review(acls, uses_of(lines)).findings
            return [each.acl.resource_name for each in found if each.kind == UNUSED]

        wait_until(lambda: not unused(), "each grant is used")
