"""What tenants have of their limits, as a node tells it to whoever scrapes it."""

from __future__ import annotations

from pathlib import Path
from urllib.request import urlopen

from penstock.node.address import Address
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.node.node_kit import running
from tests.node.wire_kit import Wire

BROKER = 4
PATIENCE_S = 60


def test_used_and_allowed(tmp_path: Path) -> None:
    with running(tmp_path / "data", metrics=Address("127.0.0.1", 0)) as node:
        with Wire(node.address) as wire:
            configs = [
                AlterableConfig(name="penstock.tenant.pay", value='{"prefix":"pay.","topics":9}'),
                AlterableConfig(name="penstock.tenant.eu", value='{"prefix":"pay.eu."}'),
            ]
            resource = AlterConfigsResource(resource_type=BROKER, resource_name="", configs=configs)
            altered = wire.call(IncrementalAlterConfigsRequest(resources=[resource]), 1)
            assert altered.responses[0].error_code == 0
            topics = [
                CreatableTopic(name=name, num_partitions=count, replication_factor=1)
                for name, count in (("pay.a", 2), ("pay.b", 3), ("pay.eu.a", 4), ("other", 5))
            ]
            made = wire.call(CreateTopicsRequest(topics=topics, timeout_ms=10_000), 7)
            assert {each.error_code for each in made.topics} == {0}
        address = node.node.metrics_address
        assert address is not None
        with urlopen(f"http://127.0.0.1:{address.port}/metrics", timeout=PATIENCE_S) as answer:
            told = [line for line in answer.read().decode().splitlines() if "tenant=" in line]
    assert set(told) == {
        'penstock_tenant_used{limit="topics",tenant="pay"} 2.0',
        'penstock_tenant_used{limit="partitions",tenant="pay"} 5.0',
        'penstock_tenant_used{limit="bytes",tenant="pay"} +Inf',
        'penstock_tenant_used{limit="topics",tenant="eu"} 1.0',
        'penstock_tenant_used{limit="partitions",tenant="eu"} 4.0',
        'penstock_tenant_used{limit="bytes",tenant="eu"} +Inf',
        'penstock_tenant_limit{limit="topics",tenant="pay"} 9.0',
    }
