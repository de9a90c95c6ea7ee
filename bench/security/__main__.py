"""Security beside Apache Kafka, and beside a node without it.

python -m bench.security [--only tls,login,acl,audit,quota] [--rounds 3] [--quick] [--write]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench import page as book
from bench.case.scale import FULL, QUICK
from bench.command import CANNOT_RUN, begin
from bench.machine import describe
from bench.peer import KAFKA, Peer
from bench.security import measure
from bench.security.figure import FIGURES, GROUPS, Found, merged, page
from bench.security.measure import Amount
from bench.security.system import AUTHORIZER, Keys, Secured, both, nodes

ROOT = Path(__file__).resolve().parent.parent.parent
LATEST = ROOT / "bench" / "results" / "security.json"

WHOLE = Amount(200_000, 2_000_000, 1000, 1500, 15_000, FULL)
LITTLE = Amount(20_000, 100_000, 50, 50, 600, QUICK)

Say = Callable[[str], None]
Values = dict[tuple[str, str], list[float]]
"""By key and broker."""


def main() -> int:
    options = _parse()
    say = begin()
    if say is None:
        return CANNOT_RUN
    amount, groups = LITTLE if options.quick else WHOLE, options.only.split(",")
    found: Found = {}
    with tempfile.TemporaryDirectory(prefix="bench-security-") as name:
        folder = Path(name)
        found |= _beside_kafka(folder, groups, options.rounds, amount, say)
        if "acl" in groups:
            found |= _acls(folder / "acl", options.rounds, amount, say)
        if "audit" in groups:
            found |= _audit(folder / "audit", options.rounds, amount, say)
    machine = describe()
    results = merged(LATEST, found, groups, machine["Penstock"].rpartition(" ")[2])
    text = page(results, machine)
    print("\n" + text)
    if options.write or (set(groups) == set(GROUPS) and not options.quick):
        book.write_part(ROOT / "docs" / "benchmarks.md", book.SECURITY, text)
        LATEST.write_text(json.dumps(results, indent=1) + "\n")
    return 0


def _beside_kafka(folder: Path, groups: list[str], rounds: int, amount: Amount, say: Say) -> Found:
    if not {"tls", "login", "quota"} & set(groups):
        return {}
    keys = Keys(folder)
    values: Values = defaultdict(list)
    with both(folder, keys) as brokers:
        for one in brokers:
            measure.prepare_login(one)
        work: dict[str, Callable[[Secured], measure.Round]] = {
            "tls": lambda one: measure.tls(one, keys, amount),
            "login": lambda one: measure.login(one, amount),
            "quota": lambda one: measure.quota(one, amount),
        }
        for number in range(rounds):
            for group, run in work.items():
                for one in brokers if group in groups else ():
                    say(f"round {number + 1}: {group}, {one.peer.name}")
                    for key, value in run(one).items():
                        values[key, one.peer.name].append(value)
    return _pairs(values, brokers)


def _pairs(values: Values, brokers: list[Secured]) -> Found:
    names = [one.peer.name for one in brokers]
    middle = {key: median(each) for key, each in values.items()}
    found: Found = {
        figure.key: (middle[figure.key, names[0]], middle[figure.key, names[1]])
        for figure in FIGURES
        if (figure.key, names[0]) in middle
    }
    for name in names if ("alone", names[0]) in middle else ():
        key = "quota.kafka" if name == KAFKA else "quota.p99"
        found[key] = (middle["alone", name], middle["beside", name])
    return found


def _acls(folder: Path, rounds: int, amount: Amount, say: Say) -> Found:
    settings = {
        "authorizer.class.name": AUTHORIZER,
        "super.users": "User:admin",
        # Until the first entry is there, somebody has to be allowed to make it.
        "allow.everyone.if.no.acl.found": "true",
    }
    values: list[tuple[float, float]] = []
    for number in range(rounds):
        say(f"round {number + 1}: acl")
        with nodes(folder / str(number), settings) as (without, within):
            measure.prepare_acls(within)
            values.append(_requests((without, within), amount))
    return {"acl.request": _medians(values)}


def _audit(folder: Path, rounds: int, amount: Amount, say: Say) -> Found:
    settings = {
        "penstock.audit.topic.enable": "true",
        "penstock.audit.topic.replication.factor": "1",
        "penstock.audit.file": str(folder / "audit.jsonl"),
        "penstock.audit.interval.ms": "1000",
    }
    values: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for number in range(rounds):
        say(f"round {number + 1}: audit")
        with nodes(folder / str(number), settings) as peers:
            one, other = (measure.small_records(peer, amount) for peer in peers)
            values["audit.produce"].append((one[0], other[0]))
            values["audit.consume"].append((one[1], other[1]))
            values["audit.request"].append(_requests(peers, amount))
    return {key: _medians(found) for key, found in values.items()}


def _requests(peers: tuple[Peer, Peer], amount: Amount) -> tuple[float, float]:
    return measure.small_request(peers[0], amount), measure.small_request(peers[1], amount)


def _medians(values: list[tuple[float, float]]) -> tuple[float, float]:
    return median(one for one, _ in values), median(other for _, other in values)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.security", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--only", default=",".join(GROUPS), help=f"some of {', '.join(GROUPS)}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it works")
    parser.add_argument("--write", action="store_true", help="write the page for a partial run too")
    options = parser.parse_args()
    unknown = set(options.only.split(",")) - set(GROUPS)
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    return options


if __name__ == "__main__":
    sys.exit(main())
