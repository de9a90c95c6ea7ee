"""Pipelines on Penstock beside the same pipelines on Apache Kafka, on this machine, in one run.

python -m bench.pipelines [--only stateless,read] [--quick] [--rounds 1] [--brokers penstock,kafka]

All of it takes an hour. In pieces: `--only detector --update` measures a part of the page anew, and
leaves the rest of it as it is; each broker of each part is written as soon as it is done.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from bench import page as book
from bench.command import CANNOT_RUN, begin
from bench.machine import describe
from bench.peer import KAFKA, PENSTOCK, PENSTOCK_FSYNC
from bench.pipelines import section
from bench.pipelines.case.steady import Say
from bench.pipelines.scale import FULL, QUICK, Scale
from bench.pipelines.schedule import WORKLOADS, Schedule, brokers_for

ROOT = Path(__file__).resolve().parent.parent.parent
NOTES = Path(__file__).with_name("notes.md")
"""What the figures mean, by hand: to be read again after every run."""
PAGE = ROOT / "docs" / "benchmarks.md"
FIGURES = ROOT / "bench" / "results" / "pipelines.json"


def main() -> int:
    options = _parse()
    say = begin()
    if say is None:
        return CANNOT_RUN
    scale = _scale(options)
    if options.update:
        return _update(options, scale, say)
    results = _schedule(options, options.only.split(","), options.brokers, scale, say)
    return _report(options, results.run(), scale)


def _schedule(
    options: argparse.Namespace, names: list[str], brokers: list[str] | None, scale: Scale, say: Say
) -> Schedule:
    return Schedule(names, brokers, options.rounds, scale, options.scratch, say)


def _update(options: argparse.Namespace, scale: Scale, say: Say) -> int:
    """Piece by piece into the page, so that what was measured stays if the time is over."""
    machine, failed = _machine(), 0
    for name in options.only.split(","):
        for broker in brokers_for(name, options.brokers):
            results = section.from_json(json.loads(FIGURES.read_text()))
            before = len(results.failures)
            _schedule(options, [name], [broker], scale, say).run(results)
            if len(results.failures) > before:
                failed += 1
                continue
            results.came_from(name, broker, section.Origin(scale, machine["Penstock"]))
            _write(options, results, scale, machine)
    return 1 if failed else 0


def _report(options: argparse.Namespace, results: section.Results, scale: Scale) -> int:
    machine = _machine()
    for name, outcomes in results.outcomes.items():
        for broker in outcomes:
            results.came_from(name, broker, section.Origin(scale, machine["Penstock"]))
    print("\n" + section.as_section(results, scale, machine, _how(options)))
    whole = options.only == ",".join(WORKLOADS) and not options.quick
    if (whole and not options.no_write) or options.write:
        _write(options, results, scale, machine)
    elif options.json:
        answer = section.as_json(results, scale, machine, _how(options))
        options.json.write_text(json.dumps(answer, indent=1) + "\n")
    return 1 if results.failures else 0


def _write(
    options: argparse.Namespace, results: section.Results, scale: Scale, machine: dict[str, str]
) -> None:
    how = _how(options)
    text = section.as_section(results, scale, machine, how)
    book.write_part(PAGE, book.PIPELINES, f"{text}\n{NOTES.read_text()}")
    answer = section.as_json(results, scale, machine, how)
    FIGURES.write_text(json.dumps(answer, indent=1) + "\n")


def _how(options: argparse.Namespace) -> dict[str, object]:
    return {"rounds": options.rounds, "quick": options.quick, "only": options.only}


def _machine() -> dict[str, str]:
    from importlib.metadata import version

    own = ("processor", "memory", "Java", "Apache Kafka", "Penstock")
    found = describe()
    return {name: found[name] for name in own} | {"Spark": version("pyspark")}


def _scale(options: argparse.Namespace) -> Scale:
    scale = QUICK if options.quick else FULL
    changes: dict[str, object] = {}
    if options.read_mb:
        changes["read_megabytes"] = options.read_mb
    if options.seconds:
        changes["measured_seconds"] = changes["stateless_seconds"] = options.seconds
    if options.rates:
        changes["ladder"] = tuple(int(rate) for rate in options.rates.split(","))
    if options.stateless_rate:
        changes["stateless_rate"] = options.stateless_rate
    return replace(scale, **changes)  # type: ignore[arg-type]


def _parse() -> argparse.Namespace:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m bench.pipelines", description=about)
    everything = ",".join(WORKLOADS)
    parser.add_argument("--only", default=everything, help=f"some of {everything}")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it works")
    parser.add_argument(
        "--brokers",
        type=lambda said: said.split(","),
        help=f"some of {PENSTOCK} (without flush), {PENSTOCK_FSYNC} (its default), {KAFKA};"
        " unless told, those that matter to each workload",
    )
    parser.add_argument("--write", action="store_true", help="write the page for a partial run too")
    parser.add_argument("--update", action="store_true", help="measure a part of the page anew")
    parser.add_argument("--no-write", action="store_true", help="leave the page alone")
    parser.add_argument("--json", type=Path, help="where a run that writes no page puts its values")
    parser.add_argument("--scratch", type=Path, help="where brokers and Spark keep data meanwhile")
    parser.add_argument("--read-mb", type=int, help="size of the topic that is read in one job")
    parser.add_argument("--seconds", type=float, help="measured seconds of each rate")
    parser.add_argument("--rates", help="the detector's ladder, such as 10000,20000,50000")
    parser.add_argument("--stateless-rate", type=int)
    options = parser.parse_args()
    unknown = set(options.only.split(",")) - set(WORKLOADS)
    unknown |= set(options.brokers or ()) - {PENSTOCK, PENSTOCK_FSYNC, KAFKA}
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return options


if __name__ == "__main__":
    sys.exit(main())
