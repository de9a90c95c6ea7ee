"""Which tenants a cluster has, read over the protocol."""

from __future__ import annotations

from typing import Final

from penstock.cli.failure import Failure
from penstock.cli.operator.link import Link, check
from penstock.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from penstock.settings.tenant import Tenant, tenants_of

BROKER: Final = 4
ALL_BROKERS: Final = ""
"""The resource whose settings they are."""


def read_tenants(link: Link) -> list[Tenant]:
    resource = DescribeConfigsResource(
        resource_type=BROKER, resource_name=ALL_BROKERS, configuration_keys=None
    )
    answer = link.call(DescribeConfigsRequest(resources=[resource]), DescribeConfigsResponse)
    (result,) = answer.results
    check(result.error_code, result.error_message)
    settings = {each.name: each.value for each in result.configs if each.value is not None}
    return sorted(tenants_of(settings), key=lambda each: each.name)


def find_tenant(link: Link, name: str) -> Tenant:
    found = {each.name: each for each in read_tenants(link)}
    if name not in found:
        there = f"there are {', '.join(found)}" if found else "there is none"
        raise Failure(f"there is no tenant {name}; {there}")
    return found[name]
