"""Who uses how much of some brokers, read from the metrics that they serve.

Between two looks a client has sent and received so many bytes: that is what is shown, with or
without quotas. Who is held to one has its limit and its waits beside that.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from penstock.cli.interrupt import check_interrupt
from penstock.cli.monitoring.family import read_page
from penstock.cli.output import print_line, print_table

_CLEAR: Final = "\x1b[H\x1b[2J"
_WANTED: Final = (
    "penstock_client_sent_bytes",
    "penstock_client_received_bytes",
    "penstock_produce_limit",
    "penstock_fetch_limit",
    "penstock_produce_throttle_time_ms",
    "penstock_fetch_throttle_time_ms",
    "penstock_request_throttle_time_ms",
    "penstock_controller_mutation_throttle_time_ms",
)

Client = tuple[str, str]
"""User and client id."""
Figures = dict[str, dict[Client, float]]


class Usage(NamedTuple):
    user: str
    client_id: str
    sent: float
    """Bytes a second, to the brokers."""
    received: float
    produce_limit: float | None
    fetch_limit: float | None
    throttle_ms: float
    """The longest average wait of the last minute, of any kind."""


def watch(
    addresses: Sequence[str], interval_s: float, count: int, rows: int, *, as_json: bool
) -> None:
    before, looked_at = look(addresses), time.monotonic()
    done = 0
    while not count or done < count:
        check_interrupt()
        time.sleep(interval_s)
        after, now = look(addresses), time.monotonic()
        found = usages(before, after, now - looked_at)[:rows]
        before, looked_at, done = after, now, done + 1
        _show(found, as_json)


def usages(before: Figures, after: Figures, elapsed_s: float) -> list[Usage]:
    """Those who move the most come first."""

    def rate(name: str, client: Client) -> float:
        # A connection that has ended takes what it had moved with it.
        grown = after[name].get(client, 0.0) - before[name].get(client, 0.0)
        return max(0.0, grown) / elapsed_s

    clients = {*after["penstock_client_sent_bytes"], *after["penstock_client_received_bytes"]}
    found = [
        Usage(
            *client,
            rate("penstock_client_sent_bytes", client),
            rate("penstock_client_received_bytes", client),
            _of_sharers(after["penstock_produce_limit"], client),
            _of_sharers(after["penstock_fetch_limit"], client),
            max(_of_sharers(after[name], client) or 0.0 for name in _WANTED[4:]),
        )
        for client in clients
    ]
    return sorted(found, key=lambda each: (-each.sent - each.received, each.client_id))


def _of_sharers(figures: dict[Client, float], client: Client) -> float | None:
    """A quota of a user, or of a client id, is that of all who share it."""
    user, client_id = client
    for tags in ((user, client_id), (user, ""), ("", client_id)):
        if tags in figures:
            return figures[tags]
    return None


def look(addresses: Iterable[str]) -> Figures:
    """Over all of the brokers: what was moved is summed, of limits and waits the most counts."""
    figures: Figures = defaultdict(dict)
    for address in addresses:
        for name, client, value in _scrape(address):
            known = figures[name].get(client, 0.0)
            is_sum = name.endswith("_bytes")
            figures[name][client] = known + value if is_sum else max(known, value)
    return figures


def _scrape(address: str) -> Iterator[tuple[str, Client, float]]:
    from prometheus_client.parser import text_string_to_metric_families

    text = read_page(address)
    for family in text_string_to_metric_families(text):
        if family.name in _WANTED:
            for sample in family.samples:
                client = (sample.labels["user"], sample.labels["client_id"])
                yield family.name, client, sample.value


def _show(found: Sequence[Usage], as_json: bool) -> None:
    if as_json:
        print_line(json.dumps([each._asdict() for each in found]))
        sys.stdout.flush()
        return
    if sys.stdout.isatty():
        sys.stdout.write(_CLEAR)
    print_table(
        ("user", "client", "sends/s", "receives/s", "may send", "may receive", "waits ms"),
        [
            (
                each.user,
                each.client_id,
                _bytes(each.sent),
                _bytes(each.received),
                _bytes(each.produce_limit),
                _bytes(each.fetch_limit),
                round(each.throttle_ms),
            )
            for each in found
        ],
    )
    sys.stdout.flush()


def _bytes(value: float | None) -> str:
    if value is None:
        return "-"
    for unit in ("", "K", "M"):
        if value < 10_000:
            return f"{value:.0f}{unit}"
        value /= 1024
    return f"{value:.0f}G"
