"""The table of rules names requests that there are."""

from __future__ import annotations

from penstock.controller.dispatch import RULES
from penstock.protocol.frame import API_BY_KEY


def test_every_rule_is_for_a_request() -> None:
    known = {api.request_class().NAME for api in API_BY_KEY.values()}
    assert set(RULES) <= known
