"""A dashboard for Grafana with a panel for every metric that is declared. Pure.

Rows are in the order of the alarms: lag, replication, controllers, then traffic and the rest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from penstock.cli.monitoring.family import PREFIX, Family

_ROWS: Final = (
    ("Lag", ("group_",)),
    (
        "Replication",
        ("under_", "offline_", "partitions_offline", "replica_", "isr_", "damaged", "repaired"),
    ),
    ("Cluster", ("active_", "fenced_", "leader_", "unclean_", "metadata_", "led_")),
    ("Traffic", ("bytes_", "messages_", "batches_", "received_", "sent_", "connections")),
    ("Requests", ("request_", "errors", "unexpected_", "flush_", "loop_", "logins")),
    ("Disks", ("disk_", "log_", "deletions_")),
    ("Clients and quotas", ("client_", "produce_", "fetch_", "controller_mutation")),
)
_REST: Final = "Broker"
_LEADERS: Final = ("group_sla_over_seconds", "group_lag_seconds_max", "under_replicated_partitions")
"""First in their rows."""
_WIDTH, _HEIGHT, _COLUMNS = 8, 8, 24
_UNITS: Final = (("_bytes", "bytes"), ("_seconds", "s"), ("_ms", "ms"), ("_ratio", "percentunit"))


def dashboard_text(families: Iterable[Family]) -> str:
    return json.dumps(_dashboard(list(families)), indent=2) + "\n"


def _dashboard(families: list[Family]) -> dict[str, Any]:
    panels: list[dict[str, Any]] = []
    top = 0
    for title in [*(row for row, _ in _ROWS), _REST]:
        mine = sorted((each for each in families if _row_of(each) == title), key=_rank)
        if not mine:
            continue
        panels.append(_row(len(panels) + 1, title, top))
        top += 1
        for index, each in enumerate(mine):
            x = index * _WIDTH % _COLUMNS
            y = top + index * _WIDTH // _COLUMNS * _HEIGHT
            panels.append(_panel(len(panels) + 1, each, x, y))
        top += -(-len(mine) * _WIDTH // _COLUMNS) * _HEIGHT
    return {
        "uid": "penstock",
        "title": "Penstock",
        "tags": ["penstock"],
        "schemaVersion": 39,
        "time": {"from": "now-3h", "to": "now"},
        "refresh": "30s",
        "templating": {"list": [_data_source()]},
        "panels": panels,
    }


def _row_of(family: Family) -> str:
    name = family.name.removeprefix(PREFIX)
    return next((row for row, starts in _ROWS if name.startswith(starts)), _REST)


def _rank(family: Family) -> tuple[int, str]:
    name = family.name.removeprefix(PREFIX)
    return (_LEADERS.index(name) if name in _LEADERS else len(_LEADERS), name)


def _row(number: int, title: str, y: int) -> dict[str, Any]:
    return {
        "id": number,
        "type": "row",
        "title": title,
        "collapsed": False,
        "gridPos": {"h": 1, "w": _COLUMNS, "x": 0, "y": y},
        "panels": [],
    }


def _panel(number: int, family: Family, x: int, y: int) -> dict[str, Any]:
    return {
        "id": number,
        "type": "timeseries",
        "title": family.name.removeprefix(PREFIX).removesuffix("_total").replace("_", " "),
        "description": family.text,
        "datasource": {"type": "prometheus", "uid": "${source}"},
        "gridPos": {"h": _HEIGHT, "w": _WIDTH, "x": x, "y": y},
        "fieldConfig": {"defaults": {"unit": _unit(family)}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + index), "expr": expression}
            for index, expression in enumerate(expressions(family))
        ],
    }


def expressions(family: Family) -> list[str]:
    """A counter as its rate, a histogram as the half and the slowest hundredth."""
    if family.kind == "counter":
        return [f"rate({family.name}[$__rate_interval])"]
    if family.kind == "histogram":
        rates = f"sum by (instance, le) (rate({family.name}_bucket[$__rate_interval]))"
        return [f"histogram_quantile({share}, {rates})" for share in (0.5, 0.99)]
    return [family.name]


def _unit(family: Family) -> str:
    name = family.name.removesuffix("_total")
    unit = next((unit for ending, unit in _UNITS if name.endswith(ending)), "short")
    return "Bps" if unit == "bytes" and family.kind == "counter" else unit


def _data_source() -> dict[str, Any]:
    return {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
