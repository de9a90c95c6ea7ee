"""A broker's metrics pushed to an OpenTelemetry collector: OTLP over HTTP, in its JSON form.

Counters are cumulative sums, as the broker counts since its start; the rest are gauges, and
histograms stay histograms.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from math import isfinite
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from penstock.cli.failure import Failure
from penstock.cli.monitoring.family import TIMEOUT_S

_CUMULATIVE: Final = 2
_LE: Final = "le"


def export_request(page: str, now_ns: int, resource: Mapping[str, str]) -> dict[str, Any]:
    """The body of one push."""
    from prometheus_client.parser import text_string_to_metric_families

    families = text_string_to_metric_families(page)
    metrics = [each for family in families if (each := _metric(family, now_ns)) is not None]
    return {
        "resourceMetrics": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeMetrics": [{"scope": {"name": "penstock"}, "metrics": metrics}],
            }
        ]
    }


def _metric(family: Any, now_ns: int) -> dict[str, Any] | None:
    # JSON has no infinity: a disk that never fills has no time to tell.
    samples = [
        each
        for each in family.samples
        if not each.name.endswith("_created") and isfinite(each.value)
    ]
    if not samples:
        return None
    metric: dict[str, Any] = {"name": family.name, "description": family.documentation}
    if family.type == "histogram":
        points = list(_histogram_points(samples, now_ns))
        metric["histogram"] = {"dataPoints": points, "aggregationTemporality": _CUMULATIVE}
    elif family.type == "counter":
        metric["sum"] = {
            "dataPoints": [_point(each, now_ns) for each in samples],
            "aggregationTemporality": _CUMULATIVE,
            "isMonotonic": True,
        }
    else:
        metric["gauge"] = {"dataPoints": [_point(each, now_ns) for each in samples]}
    return metric


def _point(sample: Any, now_ns: int) -> dict[str, Any]:
    return {
        "attributes": _attributes(sample.labels),
        "timeUnixNano": str(now_ns),
        "asDouble": sample.value,
    }


def _histogram_points(samples: Iterable[Any], now_ns: int) -> Iterator[dict[str, Any]]:
    by_labels: dict[tuple[tuple[str, str], ...], dict[str, Any]] = {}
    for each in samples:
        labels = tuple(sorted((k, v) for k, v in each.labels.items() if k != _LE))
        found = by_labels.setdefault(labels, {"buckets": [], "sum": 0.0, "count": 0.0})
        if each.name.endswith("_bucket"):
            found["buckets"].append((float(each.labels[_LE]), each.value))
        elif each.name.endswith("_sum"):
            found["sum"] = each.value
        elif each.name.endswith("_count"):
            found["count"] = each.value
    for labels, found in by_labels.items():
        buckets = sorted(found["buckets"])
        totals = [0.0, *(total for _, total in buckets)]
        counts = [later - before for before, later in pairwise(totals)]
        yield {
            "attributes": _attributes(dict(labels)),
            "timeUnixNano": str(now_ns),
            "count": str(int(found["count"])),
            "sum": found["sum"],
            "bucketCounts": [str(int(each)) for each in counts],
            "explicitBounds": [bound for bound, _ in buckets[:-1]],
        }


def _attributes(labels: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in labels.items()]


def push(url: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    """OTLP's own path is added where the address has none."""
    where = url if url.endswith("/v1/metrics") else f"{url.rstrip('/')}/v1/metrics"
    said = {"Content-Type": "application/json", **headers}
    try:
        with urlopen(
            Request(where, json.dumps(body, allow_nan=False).encode(), said), timeout=TIMEOUT_S
        ):
            pass
    except HTTPError as error:
        error.close()
        raise Failure(f"the collector at {where} refuses: {error.code} {error.reason}") from error
    except (URLError, OSError, ValueError) as error:
        raise Failure(
            f"no collector answers at {where}: {getattr(error, 'reason', error)}"
        ) from error
