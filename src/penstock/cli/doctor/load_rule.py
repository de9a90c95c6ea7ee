"""Brokers that are up and slow, by the figures that they write down. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final

from penstock.cli.doctor.finding import Advice, Cause, Finding, Level
from penstock.cli.doctor.past import RECENT, Past, by_broker
from penstock.cli.output import human_bytes
from penstock.model.figures import Figures

BUSY_IDLE: Final = 0.15
FLUSH_S: Final = 0.1
"""On average: with this, acks=all takes longer than most producers wait between batches."""
FACTOR: Final = 5
"""Times what it took before, or takes at the other brokers."""
FLUSH_MIN_S: Final = 0.02
PRODUCE_MIN_S: Final = 0.05

RESTART_SLOW: Final = Advice(
    "restart the broker",
    "its work goes to the others and comes back; what makes it slow is still there",
)


def load_findings(past: Past | None) -> list[Finding]:
    if past is None:
        return []
    history, recent = by_broker(past.minutes), past.recent()
    found = []
    for broker, now in sorted(recent.items()):
        if len(now) < RECENT:
            continue
        before = history[broker][:-RECENT]
        others = [each for other, some in recent.items() if other != broker for each in some]
        for one in (
            _flush(broker, now, before),
            _loop(broker, now),
            _slow(broker, now, before, others),
        ):
            if one is not None:
                found.append(one)
                break
    return found


def _loop(broker: int, now: Sequence[Figures]) -> Finding | None:
    idle = _mean([each.idle for each in now])
    if idle >= BUSY_IDLE:
        return None
    requests_s = sum(each.requests for each in now) / sum(each.seconds for each in now)
    return _finding(
        broker,
        Cause.loop_busy,
        f"broker {broker} has hardly any time left: its event loop was idle {idle:.0%} of the time",
        "one thread serves all requests, and it is at work, or waits for a processor, nearly all "
        "the time: everybody waits for it",
        (f"{requests_s:,.0f} requests/s, {_written(now)} written", *_top(now)),
        (
            Advice("penstock quotas top HOST:PORT", "shows who uses it most"),
            Advice("penstock leaders elect", "if it leads more than its share since a restart"),
        ),
    )


def _flush(broker: int, now: Sequence[Figures], before: Sequence[Figures]) -> Finding | None:
    took = _average([(each.flush_s, each.flushes) for each in now])
    usual = _usual([(each.flush_s, each.flushes) for each in before])
    if took is None:
        return None
    is_worse = usual is not None and took >= FLUSH_MIN_S and took >= FACTOR * usual
    if took < FLUSH_S and not is_worse:
        return None
    known = "" if usual is None else f", {usual * 1000:.1f} ms before"
    longest = max(each.flush_max_s for each in now)
    return _finding(
        broker,
        Cause.flush_slow,
        f"the disk of broker {broker} is slow: a flush takes {took * 1000:.0f} ms",
        "what producers send is confirmed when it is on disk, so they wait for this; followers "
        "fall behind with it",
        (f"{took * 1000:.1f} ms on average{known}, the longest up to {longest:g} s",),
        (
            Advice(
                "look at what else uses that disk",
                "another process, a backup, a volume at its limit of operations, a failing disk",
            ),
            Advice(f"penstock log-dirs --broker {broker}", "shows what is on it"),
        ),
    )


def _slow(
    broker: int, now: Sequence[Figures], before: Sequence[Figures], others: Sequence[Figures]
) -> Finding | None:
    if not others:
        # A broker alone waits for nobody.
        return None
    took = _average([(each.produce_s, each.produces) for each in now])
    usual = _usual([(each.produce_s, each.produces) for each in before])
    theirs = _usual([(each.produce_s, each.produces) for each in others])
    compared = [each for each in (usual, theirs) if each is not None]
    if took is None or not compared or took < max(PRODUCE_MIN_S, FACTOR * min(compared)):
        return None
    words = [
        f"{each * 1000:.1f} ms {what}"
        for each, what in ((usual, "before"), (theirs, "at other brokers"))
        if each is not None
    ]
    return _finding(
        broker,
        Cause.broker_slow,
        f"broker {broker} is slow: it takes {took * 1000:.0f} ms to confirm what is written",
        "neither its disk nor its event loop explains it: most likely a follower that it waits "
        "for, or the network between them",
        (f"{took * 1000:.1f} ms on average, {', '.join(words)}",),
        (
            Advice(
                "penstock topics describe --under-replicated",
                "whether replicas that it waits for fall behind",
            ),
        ),
    )


def _finding(
    broker: int,
    cause: Cause,
    what: str,
    why: str,
    evidence: tuple[str, ...],
    first: tuple[Advice, ...],
) -> Finding:
    return Finding(Level.broker, cause, what, why, evidence, first, (RESTART_SLOW,))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _average(pairs: Sequence[tuple[float, int]]) -> float | None:
    count = sum(each[1] for each in pairs)
    return sum(each[0] for each in pairs) / count if count else None


def _usual(pairs: Sequence[tuple[float, int]]) -> float | None:
    """The median interval, of those that had any."""
    known = [total / count for total, count in pairs if count]
    return median(known) if len(known) >= RECENT else None


def _written(now: Sequence[Figures]) -> str:
    rate = sum(each.bytes_in for each in now) / sum(each.seconds for each in now)
    return f"{human_bytes(int(rate))}/s"


def _top(now: Sequence[Figures]) -> tuple[str, ...]:
    clients = now[-1].clients
    if not clients:
        return ()
    top = clients[0]
    rate = human_bytes(int(top.bytes_in / now[-1].seconds))
    return (f"client {top.client_id or '(without an id)'} writes most: {rate}/s to {top.topic}",)
