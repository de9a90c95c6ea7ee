"""What is wrong with brokers, partitions and disks, worst first. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from penstock.cli.doctor.facts import Facts, LogDirSpace, Look
from penstock.cli.doctor.finding import RESTART_BROKERS, Advice, Cause, Finding, Level
from penstock.cli.operator.health import Fault, find_faults
from penstock.cli.operator.state import PartitionReplicas, name_some
from penstock.cli.output import human_bytes, plural

UNCLEAN: Final = Advice(
    "elect an unclean leader (`penstock leaders elect --unclean`)",
    "records that only the missing replicas have are lost; first try to bring back one that was "
    "in sync",
)


def broker_findings(facts: Facts, disk_share: float) -> list[Finding]:
    look = facts.after
    found = [*_no_controller(look), *_brokers(look), *_coordinators(look)]
    offline = _faulty(look, Fault.offline)
    short = _faulty(look, Fault.under_min_isr, but=offline)
    behind = _faulty(look, Fault.under_replicated, but=[*offline, *short])
    found += _offline(offline) + _short(short) + _behind(look, behind)
    return found + [each for one in look.dirs for each in _dir(one, disk_share)]


def _no_controller(look: Look) -> list[Finding]:
    controller = look.controller
    if not controller.is_known or controller.leader is not None:
        return []
    return [
        Finding(
            Level.broker,
            Cause.no_controller,
            "there is no active controller",
            "most of the quorum's voters are down or do not reach each other: leaders are not "
            "elected, topics and settings cannot change, nodes cannot join",
            (controller.reason,) if controller.reason else (),
            (
                Advice(
                    "start the nodes of controller.quorum.voters that are down",
                    "as soon as most of them are up they elect by themselves",
                ),
                Advice("penstock health live -b HOST:PORT", "of each node: whether it answers"),
            ),
            (
                Advice(
                    "format a voter anew",
                    "a voter that has forgotten its log may elect with what the others never "
                    "agreed on",
                ),
            ),
        )
    ]


def _brokers(look: Look) -> list[Finding]:
    found = []
    for each in sorted(look.state.brokers.values(), key=lambda one: one.id):
        silent = each.id in look.silent
        if not each.fenced and not silent:
            continue
        held = [one for one in look.state.partitions.values() if each.id in one.replicas]
        found.append(
            Finding(
                Level.broker,
                Cause.broker_silent if silent else Cause.broker_down,
                f"broker {each.id} does not answer from here"
                if silent
                else f"broker {each.id} is down",
                _why_silent(look)
                if silent
                else "its process has ended, or it cannot reach the controller: it is fenced",
                (f"{plural(len(held), 'replica')} there",),
                (
                    Advice(
                        f"look at the log of broker {each.id} and start it",
                        "it catches up by itself; its leaders come back with `penstock leaders "
                        "elect`",
                    ),
                ),
                (RESTART_BROKERS,),
                look.controller.last_seen_ms.get(each.id),
            )
        )
    return found


def _why_silent(look: Look) -> str:
    if look.controller.is_known and look.controller.leader is None:
        return "it is down, hangs, or cannot be reached; without a controller nobody can tell"
    return "it is registered and not fenced, so its process hangs, or the network to it is cut"


def _coordinators(look: Look) -> list[Finding]:
    if look.unread:
        what = f"{plural(len(look.unread), 'group')} could not be asked for: "
        what += name_some(look.unread)
    elif look.gaps:
        what = f"groups may be missing here: {name_some(look.gaps)}"
    else:
        return []
    return [
        Finding(
            Level.broker,
            Cause.coordinator_silent,
            what,
            "their coordinator does not answer, or has just taken them over and is still loading: "
            "they can neither commit nor rebalance meanwhile",
            first=(Advice("penstock doctor", "again in some seconds: loading ends by itself"),),
            avoid=(RESTART_BROKERS,),
        )
    ]


def _faulty(
    look: Look, fault: Fault, but: Iterable[PartitionReplicas] = ()
) -> list[PartitionReplicas]:
    known = {each.place for each in but}
    found = find_faults(look.state.partitions.values(), [fault], look.min_isr)
    return [each for each in found if each.place not in known]


def _offline(partitions: list[PartitionReplicas]) -> list[Finding]:
    if not partitions:
        return []
    return [
        Finding(
            Level.broker,
            Cause.partition_offline,
            f"{plural(len(partitions), 'partition')} without a leader: {_names(partitions)}",
            f"no replica that was in sync is up (they are of {_called(_missing(partitions))}): "
            "nobody can write or read there",
            first=(
                Advice(
                    "start the brokers that hold the replicas",
                    "the first one that was in sync leads at once",
                ),
                Advice("penstock topics describe --offline", "shows all of them"),
            ),
            avoid=(UNCLEAN, RESTART_BROKERS),
        )
    ]


def _short(partitions: list[PartitionReplicas]) -> list[Finding]:
    if not partitions:
        return []
    return [
        Finding(
            Level.broker,
            Cause.under_min_isr,
            f"{plural(len(partitions), 'partition')} below min.insync.replicas: "
            f"{_names(partitions)}",
            f"replicas of {_called(_missing(partitions))} are not in sync: writes with acks=all "
            "are refused",
            first=(
                Advice("penstock topics describe --under-min-isr", "shows all of them"),
                Advice(
                    f"bring back {_called(_missing(partitions))}", "their replicas catch up alone"
                ),
            ),
            avoid=(
                RESTART_BROKERS,
                Advice(
                    "lower min.insync.replicas",
                    "writes are then confirmed that one more failure loses",
                ),
            ),
        )
    ]


def _behind(look: Look, partitions: list[PartitionReplicas]) -> list[Finding]:
    if not partitions:
        return []
    missing = {one for each in partitions for one in each.lagging}
    down = sorted(one for one in missing if look.state.brokers[one].fenced)
    why = (
        f"{_called(down)} {'is' if len(down) == 1 else 'are'} down"
        if down
        else "the brokers are up: they are catching up after a start, or a disk or network there "
        "is slow"
    )
    return [
        Finding(
            Level.broker,
            Cause.under_replicated,
            f"{plural(len(partitions), 'partition')} under-replicated: {_names(partitions)}",
            why,
            (f"not in sync: replicas of {_called(_missing(partitions))}",),
            (
                Advice(
                    "penstock topics describe --under-replicated",
                    "again in a minute: fewer of them means that replicas are catching up",
                ),
            ),
            (RESTART_BROKERS,),
        )
    ]


def _dir(space: LogDirSpace, disk_share: float) -> list[Finding]:
    where = f"{space.path} of broker {space.broker}"
    if space.error is not None:
        return [
            Finding(
                Level.broker,
                Cause.dir_failed,
                f"the directory {where} has failed",
                f"the broker took it offline: {space.error}",
                first=(
                    Advice(
                        f"look at the log of broker {space.broker}",
                        "the disk's error is there; mend it, then start the broker anew",
                    ),
                ),
                avoid=(RESTART_BROKERS,),
            )
        ]
    if space.used is None or space.used < disk_share or space.usable_bytes is None:
        return []
    return [
        Finding(
            Level.broker,
            Cause.disk_full,
            f"the disk under {where} is {space.used:.0%} full",
            "more is kept, or written, than it was made for; when it is full the broker takes no "
            "more writes",
            (f"{human_bytes(space.usable_bytes)} are left",),
            (
                Advice(
                    "penstock log-dirs --free",
                    "shows what could go, by topic, each with the command that lets it go; "
                    "segments go within minutes",
                ),
                Advice(f"penstock log-dirs --broker {space.broker}", "shows what takes the room"),
                Advice("penstock capacity", "says when it will be full at the present rate"),
            ),
            (
                Advice(
                    "delete files in the directory",
                    "the broker has them open and trusts its indexes: the whole directory fails",
                ),
            ),
        )
    ]


def _names(partitions: list[PartitionReplicas]) -> str:
    return name_some(each.place for each in partitions)


def _missing(partitions: list[PartitionReplicas]) -> list[int]:
    """Brokers whose replicas are not in sync; of a partition without any in sync, all."""
    lacking = {one for each in partitions for one in each.replicas if one not in each.isr}
    return sorted(lacking or {one for each in partitions for one in each.replicas})


def _called(brokers: list[int]) -> str:
    names = ", ".join(map(str, brokers))
    return f"broker {names}" if len(brokers) == 1 else f"brokers {names}"
